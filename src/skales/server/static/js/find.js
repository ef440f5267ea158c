// Finding words within the open conversation: a bar with "3 of 17"; marks are drawn over the text, which stays as it is.

import { fetchJson } from "./http.js";
import { toast } from "./feedback.js";
import { _, ngettext } from "./words.js";

const PAUSE_MS = 160;
const MOST_RANGES = 5000;

export function makeFind(bar, session, transcript) {
  return new Find(bar, session, transcript);
}

class Find {
  constructor(bar, session, transcript) {
    this.transcript = transcript;
    this.bar = bar;
    this.session = session;
    this.field = bar.elements.q;
    this.count = bar.querySelector("[data-find-count]");
    this.hits = [];
    this.at = -1;
    this.asked = 0;
    let timer = 0;
    this.field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.search(), PAUSE_MS);
    });
    bar.addEventListener("submit", () => this.step(1));
    bar.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
      else if (event.key === "Enter" && event.shiftKey && event.target === this.field) this.step(-1);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    bar.querySelector("[data-find-previous]").addEventListener("click", () => this.step(-1));
    bar.querySelector("[data-find-close]").addEventListener("click", () => this.close());
    new MutationObserver(() => bar.hidden || this.mark()).observe(document.getElementById("scroll"), {
      childList: true,
      subtree: true,
    });
  }

  // The bar is shown already; `before` had the focus. What was typed before this was there is searched now.
  open(before) {
    if (!this.bar.contains(before)) this.before = before;
    if (this.hits.length) this.mark();
    else if (this.field.value) this.search();
  }

  close() {
    this.bar.hidden = true;
    CSS.highlights?.delete("find");
    CSS.highlights?.delete("find-current");
    (this.before?.isConnected ? this.before : document.getElementById("message"))?.focus();
  }

  async resume(words, index) {
    this.bar.hidden = false;
    this.field.value = words;
    await this.search(index);
  }

  async search(wanted = null) {
    const words = this.field.value.trim();
    const mine = ++this.asked;
    let found = { hits: [], total: 0 };
    if (words) {
      try {
        found = await fetchJson(`/ui/sessions/${encodeURIComponent(this.session)}/find?${new URLSearchParams({ q: words })}`);
      } catch (error) {
        toast(error.message);
      }
    }
    if (mine !== this.asked) return;
    this.hits = found.hits;
    const from = wanted ?? this.#firstInSight();
    const next = this.hits.findIndex((index) => index >= from);
    this.at = this.hits.length ? Math.max(next, 0) : -1;
    await this.#show();
  }

  step(by) {
    if (!this.hits.length) return;
    this.at = (this.at + by + this.hits.length) % this.hits.length;
    this.#show();
  }

  // Draws every match in what is loaded, those of the chosen message in a colour of their own.
  mark() {
    if (!CSS.highlights) return;
    const words = splitWords(this.field.value);
    const root = document.getElementById("transcript");
    const ranges = words.length && root ? findRanges(root, words) : [];
    const [start, end] = this.at >= 0 ? this.#bounds(this.hits[this.at]) : [null, null];
    const isChosen = (range) => start && follows(range.startContainer, start) && !(end && follows(range.startContainer, end));
    const chosen = ranges.filter(isChosen);
    CSS.highlights.set("find", new Highlight(...ranges));
    CSS.highlights.set("find-current", new Highlight(...chosen));
    return chosen[0];
  }

  async #show() {
    const words = this.field.value.trim();
    const { hits, at } = this;
    if (!words) this.count.textContent = "";
    else if (!hits.length) this.count.textContent = _("Nothing found");
    else this.count.textContent = _("%(number)s of %(total)s", { number: at + 1, total: hits.length });
    this.count.title = hits.length ? ngettext("%(num)d message", "%(num)d messages", hits.length) : "";
    if (at < 0) {
      this.mark();
      return;
    }
    if (!this.#bounds(hits[at])[0]) {
      const focused = this.bar.contains(document.activeElement) && document.activeElement;
      await this.transcript.jump(String(hits[at]));
      if (focused) focused.focus();
    }
    const first = this.mark();
    const place = first?.startContainer.parentElement ?? this.#bounds(hits[at])[0];
    if (place) this.transcript.sticks = false;
    for (let box = place?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    place?.scrollIntoView({ block: "center" });
  }

  #entries() {
    const found = [...document.querySelectorAll("#transcript [id^='m-']")];
    return found.map((element) => [Number(element.id.slice(2)), element]).filter(([index]) => Number.isInteger(index));
  }

  // From where to where on the page a message is, with its tool steps; nothing when that stretch is not loaded.
  #bounds(index) {
    const entries = this.#entries();
    const next = entries.findIndex(([number]) => number > index);
    const last = next < 0 ? entries.length - 1 : next - 1;
    const root = document.getElementById("transcript");
    const isBelow = next < 0 && root?.querySelector("[data-newer]");
    const isAbove = last < 0 && root?.querySelector("[data-older]");
    if (isBelow || isAbove || !entries.length) return [null, null];
    return [last < 0 ? root : entries[last][1], next < 0 ? null : entries[next][1]];
  }

  #firstInSight() {
    const top = document.getElementById("scroll").getBoundingClientRect().top;
    const seen = this.#entries().find(([, element]) => element.getBoundingClientRect().bottom > top);
    return seen ? seen[0] : 0;
  }
}

function follows(node, mark) {
  return mark.contains(node) || Boolean(mark.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING);
}

// As the server reads a query: words, and phrases in quotes.
function splitWords(query) {
  const found = [...query.matchAll(/"([^"]*)"|([^\s"]+)/g)];
  return found.map(([, phrase, word]) => fold(phrase ?? word).trim()).filter(Boolean);
}

// One sign for each sign, so that places stay places: without case and accents.
function fold(text) {
  return text.replace(/[^\x00-\x7f]/g, (sign) => sign.normalize("NFD")[0]).toLowerCase();
}

function findRanges(root, words) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const ranges = [];
  for (let node = walker.nextNode(); node && ranges.length < MOST_RANGES; node = walker.nextNode()) {
    const text = fold(node.data);
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + word.length });
        ranges.push(range);
      }
    }
  }
  return ranges;
}
