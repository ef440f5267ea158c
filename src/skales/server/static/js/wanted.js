// What comes when it is first wanted: the command palette and finding within a conversation. Each opens at once, so that
// what is typed before its module is there is in the field when it comes.

import { toast } from "./feedback.js";
import { unreachable } from "./http.js";

export function openFinder() {
  if (document.querySelector("dialog[open]")) return;
  for (const popover of document.querySelectorAll(":popover-open")) popover.hidePopover();
  const dialog = document.getElementById("finder");
  dialog.querySelector("input").value = "";
  dialog.showModal();
  fetchModule(() => import("./finder.js")).then((module) => module?.showFinder(dialog));
}

export function startFinder() {
  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-find]")) openFinder();
  });
}

export function openFind() {
  document.querySelector("[data-find-open]")?.click();
}

export function startFind(transcript) {
  const bar = document.getElementById("find-bar");
  const session = document.getElementById("chat")?.dataset.session;
  const openers = document.querySelectorAll("[data-find-open]");
  if (!bar || !session) {
    for (const opener of openers) opener.hidden = true;
    return;
  }
  let find = null;
  const load = async () => {
    const module = await fetchModule(() => import("./find.js"));
    find ??= module?.makeFind(bar, session, transcript);
    return find;
  };
  bar.addEventListener("submit", (event) => event.preventDefault());
  const open = async () => {
    const before = document.activeElement;
    bar.hidden = false;
    bar.elements.q.focus();
    bar.elements.q.select();
    (await load())?.open(before);
  };
  for (const opener of openers) opener.addEventListener("click", open);
  // A link from a search says what was searched, and where it leads.
  const asked = new URLSearchParams(location.search);
  if (asked.get("find")) load().then((loaded) => loaded?.resume(asked.get("find"), Number(asked.get("at"))));
}

// A module, or nothing when the server does not answer, which is said.
async function fetchModule(load) {
  try {
    return await load();
  } catch {
    toast(unreachable().message);
    return null;
  }
}
