// The command palette: one field that finds screens, settings, commands and conversations, and goes there.
// What is known is ranked here at once; conversations come from the server, and late answers are dropped.

import { listCommands } from "./commands.js";
import { announce } from "./feedback.js";
import { rank } from "./fuzzy.js";
import { fetchJson } from "./http.js";
import { showKeys } from "./platform.js";
import { _, ngettext } from "./words.js";

const PAUSE_MS = 120;
const RETRY_MS = 1000;
const AT_ONCE = { screen: 6, command: 6, setting: 6, conversation: 8 };
const TITLES = {
  command: () => _("Commands"),
  screen: () => _("Screens"),
  setting: () => _("Settings"),
  conversation: () => _("Conversations"),
};

let finder = null;

// Fills the dialog, which is open already.
export function showFinder(dialog) {
  finder ??= new Finder(dialog);
  finder.show();
}

class Finder {
  constructor(dialog) {
    this.dialog = dialog;
    this.field = dialog.querySelector("input");
    this.list = dialog.querySelector("[role=listbox]");
    this.empty = dialog.querySelector("[data-empty]");
    this.places = null;
    this.commands = [];
    this.conversations = [];
    this.shown = [];
    this.chosen = 0;
    this.asked = 0;
    this.field.addEventListener("input", () => this.#look());
    this.field.addEventListener("keydown", (event) => this.#press(event));
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.#take(this.shown[Number(option.dataset.index)], event);
    });
    this.list.addEventListener("pointermove", (event) => {
      const option = event.target.closest("[role=option]");
      if (option && Number(option.dataset.index) !== this.chosen) this.#mark(Number(option.dataset.index), false);
    });
    dialog.addEventListener("close", () => clearTimeout(this.timer));
    // A click on the backdrop hits the dialog itself.
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  }

  show() {
    this.commands = listCommands();
    this.conversations = [];
    this.#look();
    this.#loadPlaces();
  }

  async #loadPlaces() {
    if (this.places) return;
    try {
      this.places = await fetchJson("/ui/commands");
      this.#show();
    } catch {
      // Commands and conversations are still found; opening it again asks again.
    }
  }

  #look() {
    this.chosen = 0;
    this.#show();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#askConversations(), this.field.value ? PAUSE_MS : 0);
  }

  async #askConversations() {
    this.asked += 1;
    const number = this.asked;
    const query = this.field.value;
    this.list.setAttribute("aria-busy", "true");
    let found = null;
    try {
      found = await fetchJson(`/ui/commands/conversations?q=${encodeURIComponent(query)}`);
    } catch {
      // No answer is not the answer that there are none; the connection's own line says why.
    }
    if (number !== this.asked) return;
    if (!found) {
      if (this.dialog.open) this.timer = setTimeout(() => this.#askConversations(), RETRY_MS);
      return;
    }
    this.list.setAttribute("aria-busy", "false");
    this.conversations = found;
    this.#show();
    const count = this.shown.length;
    if (this.dialog.open) announce(ngettext("%(num)d result", "%(num)d results", count));
  }

  #show() {
    const query = this.field.value.trim();
    const known = rank([...(this.places ?? []), ...this.commands], query);
    // An empty field is for going somewhere: settings would only be in the way.
    const offered = query ? known : known.filter(({ group }) => group !== "setting");
    const groups = orderGroups(offered, this.conversations, query);
    this.shown = groups.flatMap(({ entries }) => entries);
    let index = 0;
    this.list.replaceChildren(...groups.map(({ group, entries }) => {
      const block = makeGroup(group, entries, index);
      index += entries.length;
      return block;
    }));
    this.empty.hidden = this.shown.length > 0 || this.list.getAttribute("aria-busy") === "true";
    this.#mark(Math.min(this.chosen, this.shown.length - 1));
  }

  #mark(index, scroll = true) {
    this.chosen = Math.max(index, 0);
    const options = this.list.querySelectorAll("[role=option]");
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === this.chosen)));
    const active = options[this.chosen];
    if (!active) {
      this.field.removeAttribute("aria-activedescendant");
      return;
    }
    this.field.setAttribute("aria-activedescendant", active.id);
    if (scroll) active.scrollIntoView({ block: "nearest" });
  }

  #press(event) {
    if (event.isComposing) return;
    const count = this.shown.length;
    const next = {
      ArrowDown: (this.chosen + 1) % count,
      ArrowUp: (this.chosen - 1 + count) % count,
      PageDown: Math.min(this.chosen + 8, count - 1),
      PageUp: Math.max(this.chosen - 8, 0),
    }[event.key];
    if (next !== undefined && count) {
      event.preventDefault();
      this.#mark(next);
    } else if (event.key === "Enter" && count) {
      event.preventDefault();
      this.#take(this.shown[this.chosen], event);
    }
  }

  // Closing gives the focus back first, so that what runs may take it.
  #take(entry, event) {
    this.dialog.close();
    if (entry.run) entry.run();
    else if (event.ctrlKey || event.metaKey) open(entry.address, "_blank", "noopener");
    else location.assign(entry.address);
  }
}

// The group of the best match stands first and conversations, which come later, do not push it away; without a query
// the newest conversations stand where one looks for them.
function orderGroups(known, conversations, query) {
  const best = [...new Set(known.map(({ group }) => group))];
  const names = query ? [...best, "conversation"] : ["screen", "conversation", "command"];
  const most = query ? AT_ONCE : { screen: 20, conversation: 5, command: 20 };
  const all = [...known, ...conversations];
  return names
    .map((group) => ({ group, entries: all.filter((entry) => entry.group === group).slice(0, most[group]) }))
    .filter(({ entries }) => entries.length);
}

function makeGroup(group, entries, from) {
  const block = document.createElement("div");
  block.role = "group";
  const title = document.createElement("div");
  title.role = "presentation";
  title.className = "finder-title";
  title.id = `finder-${group}`;
  title.textContent = TITLES[group]();
  block.setAttribute("aria-labelledby", title.id);
  block.append(title, ...entries.map((entry, at) => makeOption(entry, from + at)));
  return block;
}

function makeOption({ symbol, label, aside, keys }, index) {
  const option = document.createElement("div");
  option.role = "option";
  option.className = "finder-option";
  option.id = `finder-option-${index}`;
  option.dataset.index = index;
  const words = document.createElement("span");
  words.className = "label";
  words.dir = "auto";
  words.textContent = label;
  option.append(makeIcon(symbol), words);
  if (aside || keys) {
    const end = document.createElement(keys ? "kbd" : "span");
    end.className = "aside";
    end.textContent = keys ? showKeys(keys) : aside;
    option.append(end);
  }
  return option;
}

const SVG = "http://www.w3.org/2000/svg";

function makeIcon(name) {
  const icon = document.createElementNS(SVG, "svg");
  icon.setAttribute("class", "icon small");
  icon.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${document.getElementById("finder").dataset.icons}#${name}`);
  icon.append(use);
  return icon;
}
