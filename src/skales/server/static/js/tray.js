// The notices tray. News comes from the page itself, from the conversation's stream, or from `connection.js`.

import { parseHtml } from "./dom.js";
import { announce } from "./feedback.js";
import { postForm } from "./http.js";
import { _, ngettext } from "./words.js";

const NEWS = ["skales:notice", "skales:notice-board"];

export function startTray() {
  const tray = document.getElementById("tray");
  const opener = document.getElementById("tray-button");
  if (!tray) return null;

  function list() {
    return tray.querySelector("[data-tray]");
  }

  function show({ html, unread }) {
    const before = Number(opener.dataset.unread);
    const newest = parseHtml(html).firstElementChild;
    const hadFocus = list().contains(document.activeElement);
    list().replaceWith(newest);
    if (hadFocus) tray.focus();
    mark(unread);
    if (tray.matches(":popover-open")) {
      if (unread > before) markSeen();
    } else if (unread > before) {
      announce(newest.querySelector("[data-news]")?.textContent.replace(/\s+/g, " ").trim() ?? "");
    }
  }

  function mark(unread) {
    opener.dataset.unread = unread;
    const count = opener.querySelector(".count");
    count.textContent = unread > 9 ? "9+" : unread;
    count.hidden = !unread;
    const words = unread
      ? ngettext("Notifications, %(num)d new", "Notifications, %(num)d new", unread)
      : _("Notifications");
    opener.setAttribute("aria-label", words);
  }

  async function markSeen() {
    try {
      await postForm("/ui/notices/seen");
    } catch {
      // They stay new, which is no loss; the connection's own line says why.
    }
  }

  tray.addEventListener("toggle", ({ newState }) => {
    opener.setAttribute("aria-expanded", String(newState === "open"));
    if (newState !== "open") return;
    tray.focus();
    if (Number(opener.dataset.unread)) markSeen();
  });
  // The events come on the body or the document, and do not all bubble.
  for (const name of NEWS) document.addEventListener(name, ({ detail }) => show(detail), true);
  return { show, open: () => tray.showPopover() };
}
