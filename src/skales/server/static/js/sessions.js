// What a person does with a conversation in a list: rename, pin, move, export, delete; with the menu, and with keys.

import { parseHtml, tellPage } from "./dom.js";
import { fillToast, toast } from "./feedback.js";
import { fetchHtml, postForm, remove } from "./http.js";
import { CHANGED, startList } from "./history.js";
import { _ } from "./words.js";

const address = (id, rest = "") => `/ui/sessions/${encodeURIComponent(id)}${rest}`;

export function startSessions() {
  startList({ rename: renameInPlace, remove: (row) => removeSession(row.dataset.session, row) });
  startMenu();
  startRenameDialog();
  startMoveDialog();
  startExportDialog();
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-delete], [data-close], [data-export]");
    if (!button) return;
    if ("delete" in button.dataset) removeSession(button.dataset.delete, null, "current" in button.dataset);
    else if ("export" in button.dataset) openExport(button.dataset.export, button.dataset.title);
    else button.closest("dialog")?.close();
  });
  // A title can come by itself, some time after the first answer.
  const noticeTitle = ({ detail }) => showTitle(document.getElementById("chat")?.dataset.session, detail.title);
  document.addEventListener("skales:notice-board", noticeTitle, true);
  for (const box of document.querySelectorAll("[data-undo]")) {
    fillToast(box, _("Conversation deleted"), undoDelete(box.dataset.undo));
  }
}

// One menu for all rows; it knows the row by the button that opened it.
function startMenu() {
  const menu = document.getElementById("session-menu");
  if (!menu) return;
  let row = null;
  document.addEventListener(
    "click",
    (event) => {
      const button = event.target.closest(".session-more");
      if (!button) return;
      row = button.closest(".session");
      const isPinned = row.dataset.pinned === "true";
      menu.querySelector("[data-act=pin]").hidden = isPinned;
      menu.querySelector("[data-act=unpin]").hidden = !isPinned;
    },
    { capture: true },
  );
  menu.addEventListener("click", (event) => {
    const act = event.target.closest("[data-act]")?.dataset.act;
    if (!act || !row) return;
    menu.hidePopover();
    const { session, title } = row.dataset;
    if (act === "rename") renameInPlace(row);
    else if (act === "pin" || act === "unpin") pin(session, act === "pin");
    else if (act === "move") openMove(session);
    else if (act === "export") openExport(session, title);
    else removeSession(session, row);
  });
}

// --- rename ---

async function rename(id, title) {
  const answer = await postForm(address(id, "/title"), { title });
  for (const row of document.querySelectorAll(`.session[data-session="${CSS.escape(id)}"]`)) {
    row.dataset.title = answer.title || _("New chat");
    row.querySelector(".title").textContent = row.dataset.title;
  }
  showTitle(id, answer.title || _("New chat"));
  tellPage(CHANGED);
}

function renameInPlace(row) {
  if (row.querySelector(".rename")) return;
  const link = row.querySelector("a");
  const field = document.createElement("input");
  field.className = "input rename";
  field.maxLength = 120;
  field.value = row.dataset.title;
  field.setAttribute("aria-label", _("Name of the conversation"));
  link.hidden = true;
  link.before(field);
  field.focus();
  field.select();
  let isOver = false;
  const end = async (saves) => {
    if (isOver) return;
    isOver = true;
    const had = field.contains(document.activeElement);
    field.remove();
    link.hidden = false;
    if (had) link.focus();
    if (!saves || field.value === row.dataset.title) return;
    await rename(row.dataset.session, field.value).catch((error) => toast(error.message));
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter" && !event.isComposing) end(true);
    else if (event.key === "Escape") end(false);
  });
  field.addEventListener("blur", () => end(true));
}

function startRenameDialog() {
  const dialog = document.getElementById("rename-dialog");
  const form = dialog.querySelector("form");
  const field = form.elements.title;
  let renaming = "";
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-rename]");
    if (!button) return;
    renaming = button.dataset.rename;
    field.value = button.dataset.title;
    dialog.showModal();
    field.select();
  });
  form.addEventListener("submit", () => rename(renaming, field.value).catch((error) => toast(error.message)));
}

// The page's own title, when the renamed conversation is the one on it.
export function showTitle(id, title) {
  const chat = document.getElementById("chat");
  if (!chat || chat.dataset.session !== id || !title) return;
  document.getElementById("session-title").textContent = title;
  document.title = `${title} · Skales`;
  for (const button of document.querySelectorAll(".bar [data-title]")) button.dataset.title = title;
}

// --- pin and move ---

async function pin(id, pinned, canUndo = true) {
  try {
    await postForm(address(id, "/pin"), { pinned });
  } catch (error) {
    toast(error.message);
    return;
  }
  tellPage(CHANGED);
  const undo = { words: _("Undo"), run: () => pin(id, !pinned, false) };
  if (canUndo) toast(pinned ? _("Conversation pinned") : _("Conversation unpinned"), undo);
}

async function openMove(id) {
  const dialog = document.getElementById("move-dialog");
  try {
    dialog.querySelector("[data-move-form]").replaceChildren(parseHtml(await fetchHtml(address(id, "/move"))));
    dialog.showModal();
  } catch (error) {
    toast(error.message);
  }
}

function startMoveDialog() {
  document.getElementById("move-dialog")?.addEventListener("submit", (event) => {
    const values = new FormData(event.target);
    move(event.target.dataset.move, values.get("new").trim() || values.get("folder"));
  });
}

async function move(id, folder, canUndo = true) {
  try {
    const answer = await postForm(address(id, "/folder"), { folder });
    tellPage(CHANGED);
    if (!canUndo || answer.before === answer.folder) return;
    const words = answer.folder ? _("Moved to %(folder)s", { folder: answer.folder }) : _("Taken out of its folder");
    toast(words, { words: _("Undo"), run: () => move(id, answer.before, false) });
  } catch (error) {
    toast(error.message);
  }
}

// --- export ---

function openExport(id, title) {
  const dialog = document.getElementById("export-dialog");
  const form = dialog.querySelector("form");
  form.action = address(id, "/export");
  form.querySelector("[data-export-title]").textContent = title;
  dialog.showModal();
}

function startExportDialog() {
  const dialog = document.getElementById("export-dialog");
  dialog?.addEventListener("submit", async (event) => {
    event.preventDefault();
    dialog.close();
    const box = toast(_("The file is being made"));
    try {
      const { saveFile } = await import("./downloads.js");
      await saveFile(`${event.target.action}?${new URLSearchParams(new FormData(event.target))}`);
    } catch (error) {
      toast(error.message);
    }
    box.remove();
  });
}

// --- delete ---

async function removeSession(id, row, isCurrent = row?.classList.contains("current")) {
  try {
    await remove(address(id));
  } catch (error) {
    toast(error.message);
    return;
  }
  if (isCurrent) {
    location.assign(`/chat?deleted=${encodeURIComponent(id)}`);
    return;
  }
  const next = row && (row.nextElementSibling ?? row.previousElementSibling);
  const hadFocus = row?.contains(document.activeElement) || document.activeElement === document.body;
  for (const other of document.querySelectorAll(`.session[data-session="${CSS.escape(id)}"]`)) other.remove();
  if (hadFocus) next?.querySelector("a")?.focus();
  tellPage(CHANGED);
  toast(_("Conversation deleted"), undoDelete(id));
}

function undoDelete(id) {
  return {
    words: _("Undo"),
    run: async () => {
      await postForm(address(id, "/restore"));
      tellPage(CHANGED);
    },
  };
}
