// The answer that streams: finished blocks as the server rendered them, behind them the raw text of the open one.

import { parseHtml } from "./dom.js";
import { _ } from "./words.js";

export class StreamingAnswer {
  constructor() {
    this.article = document.createElement("article");
    this.article.className = "message message-answer streaming";
    const heading = document.createElement("h2");
    heading.className = "sr-only";
    heading.textContent = "Skales";
    this.prose = document.createElement("div");
    this.prose.className = "prose";
    this.article.append(heading, this.prose);
    this.text = null;
    this.tail = null;
    this.breaks = "";
    this.thoughts = null;
  }

  openTail({ kind, note }) {
    this.#dropTail();
    this.tail = kind === "code" ? codeTail(note) : plainTail(kind, note);
    this.text = document.createTextNode("");
    this.breaks = "";
    (this.tail.querySelector("code, .text") ?? this.tail).append(this.text);
    this.prose.append(this.tail);
  }

  // A line break at the end would open an empty line that closes again when the block is finished.
  grow(text) {
    if (!this.text) this.openTail({ kind: "text", note: "" });
    const whole = this.breaks + text;
    const shown = whole.replace(/\n+$/, "");
    this.breaks = whole.slice(shown.length);
    this.text.appendData(shown);
  }

  finishBlock(html) {
    const block = parseHtml(html);
    if (this.tail) this.tail.replaceWith(block);
    else this.prose.append(block);
    this.tail = this.text = null;
  }

  think(text) {
    if (!this.thoughts) {
      const details = document.createElement("details");
      details.className = "thoughts";
      const summary = document.createElement("summary");
      const spinner = document.createElement("span");
      spinner.className = "spinner";
      summary.append(spinner, _("Thinking"));
      const place = document.createElement("div");
      place.className = "text";
      this.thoughts = document.createTextNode("");
      place.append(this.thoughts);
      details.append(summary, place);
      this.prose.before(details);
    }
    this.thoughts.appendData(text);
  }

  #dropTail() {
    this.tail?.remove();
    this.tail = this.text = null;
  }
}

function plainTail(kind, note) {
  const tail = document.createElement("div");
  tail.className = `tail tail-${kind}${kind === "heading" ? ` level-${note}` : ""}`;
  if (kind === "item") {
    tail.dataset.marker = /\d/.test(note) ? note : "•";
    const text = document.createElement("span");
    text.className = "text";
    tail.append(text);
  }
  return tail;
}

function codeTail(language) {
  const figure = document.createElement("figure");
  figure.className = "tail code";
  const caption = document.createElement("figcaption");
  const name = document.createElement("span");
  name.className = "language";
  name.textContent = language || "text";
  caption.append(name);
  const pre = document.createElement("pre");
  pre.append(document.createElement("code"));
  figure.append(caption, pre);
  return figure;
}
