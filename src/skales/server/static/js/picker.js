// The choice of who answers: a list with search beside the message field. A new chat keeps it in the draft.

import { fold } from "./fuzzy.js";
import { parseHtml } from "./dom.js";
import { announce, toast } from "./feedback.js";
import { fetchHtml, postForm } from "./http.js";
import { _ } from "./words.js";

const GAP_PX = 8;

export function startPicker(session, draft, changed) {
  return new Picker(session, draft, changed);
}

class Picker {
  constructor(session, draft, changed) {
    this.session = session;
    this.draft = draft;
    this.changed = changed;
    this.button = document.getElementById("chooser");
    this.box = document.getElementById("picker");
    this.query = document.getElementById("picker-query");
    this.list = document.getElementById("picker-list");
    this.wanted = "";
    this.active = null;
    if (!session && draft.content.choice) this.#label(draft.content.choice);
    this.box.addEventListener("toggle", ({ newState }) => this.#toggle(newState === "open"));
    this.query.addEventListener("input", () => this.#filter());
    this.query.addEventListener("keydown", (event) => this.#press(event));
    this.list.addEventListener("click", ({ target }) => this.#choose(target.closest("[role=option]")));
    // A click on the list must not take the focus from the search.
    this.list.addEventListener("pointerdown", (event) => event.preventDefault());
    addEventListener("resize", () => this.box.matches(":popover-open") && this.#place());
  }

  get choice() {
    const { provider, model } = this.button.dataset;
    return { provider, model };
  }

  get sees() {
    return this.button.dataset.sees === "true";
  }

  get label() {
    return this.button.querySelector(".label").textContent;
  }

  open(query = "") {
    this.wanted = query;
    if (!this.box.matches(":popover-open")) this.box.showPopover();
  }

  // Who answers from now on.
  take(choice) {
    this.#label(choice);
    this.changed();
    if (!this.session) this.draft.keep({ choice: choice.provider ? choice : null });
    announce(_("%(model)s answers from the next message on", { model: choice.label }));
  }

  #label({ provider, model, label, sees }) {
    Object.assign(this.button.dataset, { provider, model, sees: String(sees) });
    this.button.querySelector(".label").textContent = label;
  }

  async #toggle(isOpen) {
    this.button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return;
    this.query.value = this.wanted;
    this.wanted = "";
    this.#place();
    this.query.focus();
    try {
      const html = await fetchHtml(`/ui/models?${new URLSearchParams(this.choice)}`);
      this.list.replaceChildren(parseHtml(html));
      this.#filter();
      this.#place();
    } catch (error) {
      this.box.hidePopover();
      toast(error.message);
    }
  }

  get #shown() {
    return [...this.list.querySelectorAll("[role=option]:not([hidden])")];
  }

  #filter() {
    const typed = this.query.value.trim();
    const words = fold(typed).split(/\s+/).filter(Boolean);
    for (const group of this.list.querySelectorAll(".choices")) {
      const head = fold(group.querySelector(".choices-head")?.textContent ?? "");
      for (const option of group.querySelectorAll(".choice:not(.by-hand)")) {
        const text = `${head} ${fold(option.textContent)}`;
        option.hidden = !words.every((word) => text.includes(word));
      }
      this.#offerByHand(group, typed);
      group.hidden = !group.querySelector("[role=option]:not([hidden])");
    }
    const shown = this.#shown;
    const present = typed ? null : shown.find((option) => option.querySelector(".mark svg"));
    // What is listed comes before a name that might be one.
    this.#mark(present ?? shown.find((option) => !option.matches(".by-hand")) ?? shown[0] ?? null);
  }

  // A name that is in no list may still be one.
  #offerByHand(group, typed) {
    const option = group.querySelector(".by-hand");
    if (!option) return;
    const isListed = [...group.querySelectorAll(".choice:not(.by-hand)")].some(({ dataset }) => dataset.model === typed);
    option.hidden = !typed || isListed || /\s/.test(typed);
    option.dataset.model = option.dataset.label = typed;
    option.querySelector(".name").textContent = _("Use %(model)s with %(provider)s", { model: typed, provider: option.dataset.byHand });
  }

  #mark(option) {
    this.active?.setAttribute("aria-selected", "false");
    this.active = option;
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) this.query.setAttribute("aria-activedescendant", option.id);
    else this.query.removeAttribute("aria-activedescendant");
  }

  #press(event) {
    if (event.isComposing) return;
    const shown = this.#shown;
    const at = shown.indexOf(this.active);
    const next = {
      ArrowDown: shown[(at + 1) % shown.length],
      ArrowUp: shown[(at - 1 + shown.length) % shown.length],
    }[event.key];
    if (next) this.#mark(next);
    else if (event.key === "Enter") this.#choose(this.active);
    else return;
    event.preventDefault();
  }

  async #choose(option) {
    if (!option) return;
    const { provider, model = "", label, sees } = option.dataset;
    let choice = { provider, model, label, sees };
    try {
      if (this.session) choice = await postForm(`/ui/chat/${encodeURIComponent(this.session)}/model`, { provider, model });
    } catch (error) {
      toast(error.message);
      return;
    }
    this.box.hidePopover();
    this.take(choice);
    document.getElementById("message").focus();
  }

  // Above the button, moved in where the window ends.
  #place() {
    const button = this.button.getBoundingClientRect();
    const left = Math.min(button.left, innerWidth - this.box.offsetWidth - GAP_PX);
    this.box.style.left = `${Math.max(GAP_PX, left)}px`;
    this.box.style.bottom = `${innerHeight - button.top + GAP_PX}px`;
    this.box.style.maxHeight = `${Math.max(button.top - 2 * GAP_PX, 120)}px`;
  }
}
