// All keys of the page in one table; the help dialog shows the same table.

import { isInField } from "./dom.js";
import { isPressed, showKeys } from "./platform.js";
import { toggleRail } from "./rail.js";
import { openFind, openFinder } from "./wanted.js";
import { _ } from "./words.js";

// Without `run` the key belongs to an element and is only listed. `always`: also while somebody writes.
const SHORTCUTS = [
  { keys: "Mod+k", what: () => _("find anything: screens, conversations, settings, commands"), run: openFinder, always: true },
  { keys: "?", what: () => _("show this help"), run: showHelp },
  { keys: "/", what: () => _("write a command"), run: () => focusMessage("/") },
  { keys: "c", what: () => _("write a message"), run: () => focusMessage("") },
  { keys: "s", what: () => _("search conversations"), run: searchConversations },
  { keys: "f", what: () => _("find in this conversation"), run: openFind },
  { keys: "Mod+Shift+f", what: () => _("the same, also while writing"), run: openFind, always: true },
  { keys: "n", what: () => _("show notifications"), run: () => document.getElementById("tray")?.showPopover() },
  { keys: "[", what: () => _("collapse or expand the sidebar"), run: toggleRail },
  { keys: "Mod+b", what: () => _("the same, also while writing"), run: toggleRail, always: true },
  { keys: "Escape", what: () => _("stop the running turn"), run: stopTurn, always: true, passes: true },
  { keys: "Enter", what: () => _("send the message (Shift+Enter begins a line)") },
  { keys: "F2", what: () => _("in the list of conversations: rename; Delete deletes, the arrows move") },
  { keys: "ArrowUp", what: () => _("in an empty field: the message sent last") },
];

export function startShortcuts() {
  const list = document.querySelector("[data-shortcuts]");
  for (const { keys, what } of SHORTCUTS) {
    const term = document.createElement("dt");
    const key = document.createElement("kbd");
    key.textContent = showKeys(keys);
    term.append(key);
    const words = document.createElement("dd");
    words.textContent = what();
    list.append(term, words);
  }
  for (const hint of document.querySelectorAll("[data-keys]")) hint.textContent = showKeys(hint.dataset.keys);
  document.addEventListener("keydown", press);
}

function press(event) {
  if (event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  const shortcut = SHORTCUTS.find((candidate) => candidate.run && isPressed(event, candidate.keys));
  if (!shortcut || (isInField() && !shortcut.always)) return;
  if (!shortcut.passes) event.preventDefault();
  shortcut.run();
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

// The list is out of reach in the closed drawer and in the rail; the palette finds conversations too.
function searchConversations() {
  const field = document.getElementById("session-query");
  if (field?.checkVisibility({ visibilityProperty: true })) field.focus();
  else openFinder();
}
