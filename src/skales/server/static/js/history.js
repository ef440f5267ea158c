// Lists of conversations: keys to move in them, folders that stay as they were left, and the history page's own parts.

import { parseHtml, tellPage } from "./dom.js";
import { toast } from "./feedback.js";
import { fetchHtml, postForm, remove } from "./http.js";
import { _ } from "./words.js";

export const CHANGED = "skales:sessions";
const OPEN_FOLDERS = "skales.open-folders";
// A list that was out of sight for longer than this may be old.
const STALE_MS = 30_000;

export function startList({ rename, remove: removeRow }) {
  const list = document.getElementById("session-list");
  if (list) {
    openFolders(list);
    keepPlace(list);
    list.addEventListener("toggle", (event) => noticeFolder(event.target), { capture: true });
  }
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const here = event.target.closest?.(".session, .session-folder > summary");
    if (!here || event.target.matches("input")) return;
    const row = event.target.matches("a") ? here : null;
    const act = {
      ArrowDown: () => step(here, 1),
      ArrowUp: () => step(here, -1),
      Home: () => step(here, -Infinity),
      End: () => step(here, Infinity),
      ArrowRight: row && (() => row.querySelector(".session-more").focus()),
      ArrowLeft: here.matches(".session") && (() => here.querySelector("a").focus()),
      F2: row && (() => rename(row)),
      Delete: row && (() => removeRow(row)),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  startHistoryPage();
}

// The next link or folder in the same list, in the order they are seen.
function step(here, by) {
  const list = here.closest("#session-list, #found");
  const places = [...list.querySelectorAll("summary, .session > a, .session a.title")].filter((place) => place.checkVisibility());
  const at = places.findIndex((place) => here === place || here.contains(place));
  places[Math.max(0, Math.min(places.length - 1, at + by))]?.focus();
}

// --- folders ---

function readOpen() {
  try {
    return new Set(JSON.parse(localStorage.getItem(OPEN_FOLDERS) ?? "[]"));
  } catch {
    return new Set();
  }
}

function openFolders(list) {
  const open = readOpen();
  for (const folder of list.querySelectorAll("details[data-folder]")) {
    if (open.has(folder.dataset.folder)) folder.open = true;
  }
}

async function noticeFolder(folder) {
  const { folder: name } = folder.dataset;
  if (name === undefined || !folder.isConnected) return;
  const open = readOpen();
  if (folder.open) open.add(name);
  else open.delete(name);
  localStorage.setItem(OPEN_FOLDERS, JSON.stringify([...open]));
  const box = folder.querySelector(".in-folder");
  if (!folder.open || !box || box.childElementCount) return;
  const current = document.getElementById("chat")?.dataset.session ?? "";
  try {
    box.replaceChildren(parseHtml(await fetchHtml(`/ui/sessions?${new URLSearchParams({ folder: name, current })}`)));
    window.htmx?.process(box);
  } catch (error) {
    toast(error.message);
  }
  box.setAttribute("aria-busy", "false");
}

// A list that was fetched anew looks as the one before it: folders, scrolling, the keyboard's place.
function keepPlace(list) {
  const search = document.getElementById("session-search");
  const query = () => search.elements.q.value.trim();
  let before = { focused: "", top: 0, query: query() };
  search.addEventListener("htmx:before:swap", () => {
    const focused = document.activeElement?.closest("#session-list .session")?.dataset.session ?? "";
    before = { focused, top: before.query === query() ? list.scrollTop : 0, query: query() };
  });
  search.addEventListener("htmx:after:swap", () => {
    openFolders(list);
    list.scrollTop = before.top;
    if (!before.focused) return;
    list.querySelector(`.session[data-session="${CSS.escape(before.focused)}"] > a`)?.focus({ preventScroll: true });
  });
  // What happens in other conversations changes their rows; the tray hears of it.
  let board = null;
  const noticeBoard = ({ detail }) => {
    // The first only says what the page has shown already.
    if (board !== null && board !== detail.html) tellPage(CHANGED);
    board = detail.html;
  };
  document.addEventListener("skales:notice-board", noticeBoard, true);
  let hiddenAt = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenAt = performance.now();
    else if (performance.now() - hiddenAt > STALE_MS) tellPage(CHANGED);
  });
}

// --- the history page ---

function startHistoryPage() {
  const found = document.getElementById("found");
  if (!found) return;
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-restore], [data-purge], [data-export-all]");
    if (!button) return;
    if ("restore" in button.dataset) bringBack(button.closest("[data-deleted]"));
    else if ("purge" in button.dataset) askToPurge(button.closest("[data-deleted]"));
    else document.getElementById("export-all-dialog").showModal();
  });
  startPurging();
  startExportingAll();
  const filter = document.querySelector("[data-history-filter]");
  // The address says what is shown, so that going back and reloading show it again.
  filter?.addEventListener("htmx:after:swap", () => rememberFilter(filter));
  document.body.addEventListener(CHANGED, () => filter && window.htmx?.trigger(filter, "submit"));
}

function rememberFilter(filter) {
  const values = [...new FormData(filter)].filter(([, value]) => value);
  const query = String(new URLSearchParams(values));
  history.replaceState(null, "", query ? `/history?${query}` : "/history");
}

async function bringBack(row) {
  const { deleted, title } = row.dataset;
  try {
    await postForm(`/ui/sessions/${encodeURIComponent(deleted)}/restore`);
  } catch (error) {
    toast(error.message);
    return;
  }
  leave(row);
  tellPage(CHANGED);
  toast(_("%(name)s is back", { name: title }), {
    words: _("Open"),
    run: () => location.assign(`/chat/${encodeURIComponent(deleted)}`),
  });
}

let purging = null;

function askToPurge(row) {
  purging = row;
  const dialog = document.getElementById("purge-dialog");
  const words = _("%(name)s cannot be brought back after this.", { name: row.dataset.title });
  dialog.querySelector("[data-purge-words]").textContent = words;
  dialog.showModal();
}

function startPurging() {
  document.getElementById("purge-dialog")?.addEventListener("submit", async () => {
    try {
      await remove(`/ui/history/trash/${encodeURIComponent(purging.dataset.deleted)}`);
      leave(purging);
    } catch (error) {
      toast(error.message);
    }
  });
}

function leave(row) {
  const next = row.nextElementSibling ?? row.previousElementSibling;
  row.remove();
  if (next) next.querySelector("button")?.focus();
  else location.reload();
}

function startExportingAll() {
  const dialog = document.getElementById("export-all-dialog");
  const form = dialog?.querySelector("form");
  if (!form) return;
  const progress = form.querySelector("[data-export-progress]");
  let running = null;
  const stop = () => {
    running?.abort();
    running = null;
    dialog.close();
  };
  form.querySelector("[data-export-stop]").addEventListener("click", stop);
  dialog.addEventListener("cancel", stop);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return;
    const mine = (running = new AbortController());
    progress.hidden = false;
    try {
      const { saveFile } = await import("./downloads.js");
      await saveFile(`/ui/history/export?${new URLSearchParams(new FormData(form))}`, {
        signal: mine.signal,
        onEntry: (done, total) => showProgress(progress, done, total),
      });
      toast(_("All conversations were exported"));
    } catch (error) {
      if (error.name !== "AbortError") toast(error.message);
    }
    progress.hidden = true;
    if (running === mine) stop();
  });
}

function showProgress(box, done, total) {
  box.querySelector("progress").max = total || 1;
  box.querySelector("progress").value = done;
  box.querySelector("[data-export-words]").textContent = _("%(done)s of %(total)s", { done, total });
}
