// Completing commands: `/` lists them, `/tool ` lists tools, and a tool's parameters stand below the field.

import { fillField } from "./dom.js";
import { announce } from "./feedback.js";
import { fetchJson } from "./http.js";
import { ngettext } from "./words.js";

const SHOWN = 8;

export function startPalette(field) {
  const list = document.getElementById("palette");
  const usage = document.getElementById("usage");
  const commands = [...document.querySelectorAll("[data-commands] dt")].map((term) => ({
    name: term.textContent,
    argument: term.dataset.argument,
    what: term.nextElementSibling.textContent,
    text: term.dataset.argument ? `${term.textContent} ` : term.textContent,
  }));
  let tools = null;
  let options = [];
  let chosen = -1;

  async function loadTools() {
    tools ??= fetchJson("/ui/tools/names").catch(() => []);
    return tools;
  }

  async function find(text) {
    const tool = /^\/tool\s+(\S*)$/.exec(text);
    if (tool) {
      const word = tool[1].toLowerCase();
      const known = await loadTools();
      if (known.some(({ name }) => name === word)) return [];
      return known
        .filter(({ name }) => name.includes(word))
        .sort((a, b) => Number(b.name.startsWith(word)) - Number(a.name.startsWith(word)))
        .slice(0, SHOWN)
        .map(({ name, what, required }) => ({ name, what, text: `/tool ${name}${required.length ? ` ${required[0]}=` : " "}` }));
    }
    return /^\/\S*$/.test(text) ? commands.filter(({ name }) => name.startsWith(text) && name !== text) : [];
  }

  async function showUsage(text) {
    const named = /^\/tool\s+(\S+)\s/.exec(text);
    const tool = named && (await loadTools()).find(({ name }) => name === named[1]);
    const word = /^(\/\S+)\s/.exec(text)?.[1];
    const command = commands.find(({ name, argument }) => name === word && argument);
    usage.textContent = tool ? tool.usage : command ? `${command.name} ${command.argument} – ${command.what}` : "";
    usage.hidden = !usage.textContent;
  }

  function show(found) {
    options = found;
    chosen = found.length ? 0 : -1;
    list.replaceChildren(...found.map(makeOption));
    list.hidden = !found.length;
    mark();
    if (found.length) announce(ngettext("%(num)d suggestion", "%(num)d suggestions", found.length));
  }

  function mark() {
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === chosen)));
    const active = list.children[chosen];
    active?.scrollIntoView({ block: "nearest" });
    if (active) field.setAttribute("aria-activedescendant", active.id);
    else field.removeAttribute("aria-activedescendant");
  }

  function take(index) {
    const option = options[index];
    show([]);
    fillField(field, option.text);
    field.focus();
  }

  field.addEventListener("input", async () => {
    const text = field.value;
    const found = await find(text);
    if (field.value !== text) return;
    show(found);
    await showUsage(text);
  });
  field.addEventListener("blur", () => show([]));
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const item = event.target.closest("li");
    if (item) take([...list.children].indexOf(item));
  });

  // Whether the list used a key; Enter and Tab take what is marked.
  function takesKey(event) {
    if (!options.length || event.isComposing) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      chosen = (chosen + step + options.length) % options.length;
      mark();
    } else if (event.key === "Enter" || event.key === "Tab") {
      take(chosen);
    } else if (event.key === "Escape") {
      show([]);
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  return { takesKey, close: () => show([]) };
}

function makeOption({ name, argument, what }, index) {
  const item = document.createElement("li");
  item.id = `palette-${index}`;
  item.role = "option";
  const word = document.createElement("code");
  word.textContent = argument ? `${name} ${argument}` : name;
  const explained = document.createElement("span");
  explained.className = "what";
  explained.textContent = what;
  item.append(word, explained);
  return item;
}
