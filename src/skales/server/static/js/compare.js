// The compare page: the answers grow side by side as text, and come once more as HTML when they are over.

import { parseHtml } from "./dom.js";
import { readEvents } from "./events.js";
import { announce, toast } from "./feedback.js";
import { fetchHtml, postForm } from "./http.js";
import { _, ngettext } from "./words.js";

export function startCompare() {
  const form = document.getElementById("compare-form");
  if (form) new Compare(form);
}

class Compare {
  constructor(form) {
    this.form = form;
    this.place = document.getElementById("compare-answers");
    this.error = document.getElementById("compare-error");
    this.stopper = document.getElementById("compare-stop");
    this.source = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.source) this.#ask();
    });
    form.elements.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    this.stopper.addEventListener("click", () => this.source?.abort());
    this.place.addEventListener("change", ({ target }) => {
      if (target.name === "compare-shown") target.closest(".comparison").dataset.shown = target.value;
    });
    this.place.addEventListener("click", ({ target }) => {
      const button = target.closest("[data-keep]");
      if (button) this.#keep(button);
    });
    addEventListener("pagehide", () => this.source?.abort());
  }

  async #ask() {
    this.source = new AbortController();
    this.#say("");
    this.#setRunning(true);
    this.shown = null;
    const body = new URLSearchParams(new FormData(this.form));
    try {
      for await (const event of readEvents("/ui/compare", { body, signal: this.source.signal })) this.#take(event);
    } catch (error) {
      if (!this.source.signal.aborted) this.#say(error.message);
    }
    await this.#settle();
    this.source = null;
    this.#setRunning(false);
  }

  #take({ name, data }) {
    if (name === "begin") {
      this.place.replaceChildren(parseHtml(data.html));
      this.shown = this.place.querySelector(".comparison");
      this.id = data.id;
      const count = this.#columns().length;
      announce(ngettext("%(num)d model is asked", "%(num)d models are asked", count));
      return;
    }
    const column = this.shown.querySelector(`[data-column="${data.column}"]`);
    const state = column.querySelector("[data-state]");
    if (name === "text") {
      state.textContent = _("Writing");
      column.querySelector(".stream").append(data.text);
    } else if (name === "think") state.textContent = _("Thinking");
    else if (name === "wait") state.textContent = data.text;
    else if (name === "done") this.#finish(column, data.html);
  }

  #finish(column, html) {
    column.querySelector(".compare-body").replaceWith(parseHtml(html));
    column.setAttribute("aria-busy", "false");
    announce(_("%(name)s has answered", { name: column.querySelector("h2").firstChild.textContent.trim() }));
  }

  // What was stopped or lost is on the server as far as it came.
  async #settle() {
    for (const column of this.#columns()) {
      if (column.getAttribute("aria-busy") !== "true") continue;
      try {
        this.#finish(column, await fetchHtml(`/ui/compare/${this.id}/${column.dataset.column}`));
      } catch (error) {
        column.setAttribute("aria-busy", "false");
        column.querySelector(".waiting")?.remove();
        this.#say(error.message);
      }
    }
  }

  async #keep(button) {
    button.disabled = true;
    try {
      const { go } = await postForm(button.dataset.keep);
      location.assign(go);
    } catch (error) {
      button.disabled = false;
      toast(error.message);
    }
  }

  #columns() {
    return this.shown ? [...this.shown.querySelectorAll(".compare-column")] : [];
  }

  #setRunning(running) {
    this.stopper.hidden = !running;
    this.form.querySelector("[type=submit]").disabled = running;
  }

  #say(text) {
    this.error.hidden = !text;
    this.error.textContent = text;
  }
}
