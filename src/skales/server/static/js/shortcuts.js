// All keys of the page in one table; the help dialog shows the same table.

import { isInField } from "./dom.js";

const SHORTCUTS = [
  { keys: "?", what: "show this help", run: showHelp },
  { keys: "/", what: "write a command", run: () => focusMessage("/") },
  { keys: "c", what: "write a message", run: () => focusMessage("") },
  { keys: "s", what: "search conversations", run: () => focusField("session-query") },
  { keys: "Escape", shown: "Esc", what: "stop the running turn", run: stopTurn, always: true },
  { keys: "Enter", what: "send the message (Shift+Enter begins a line)" },
  { keys: "ArrowUp", shown: "↑", what: "in an empty field: the message sent last" },
];

export function startShortcuts() {
  const list = document.querySelector("[data-shortcuts]");
  for (const shortcut of SHORTCUTS) {
    const term = document.createElement("dt");
    const key = document.createElement("kbd");
    key.textContent = shortcut.shown ?? shortcut.keys;
    term.append(key);
    const what = document.createElement("dd");
    what.textContent = shortcut.what;
    list.append(term, what);
  }
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const shortcut = SHORTCUTS.find((candidate) => candidate.run && candidate.keys === event.key);
    if (!shortcut || (isInField() && !shortcut.always)) return;
    if (!shortcut.always) event.preventDefault();
    shortcut.run();
  });
}

export function showHelp() {
  document.getElementById("help-dialog").showModal();
}

function stopTurn() {
  const button = document.getElementById("stop");
  if (button && !button.hidden) button.click();
}

function focusMessage(start) {
  const field = document.getElementById("message");
  if (!field) return;
  field.focus();
  if (start && !field.value) {
    field.value = start;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

function focusField(id) {
  if (document.body.classList.contains("drawer-open") || !matchMedia("(max-width: 52rem)").matches) {
    document.getElementById(id)?.focus();
  }
}
