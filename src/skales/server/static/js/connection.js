// Whether Skales answers. Pages with a conversation hear it from their own stream; the others open one here, so that
// every tab has exactly one. The network does not matter to a server on this computer.

import { announce } from "./feedback.js";
import { fetchText } from "./http.js";
import { _ } from "./words.js";

// A restart that takes less than this is nobody's concern.
const PATIENCE_MS = 1500;
const HIDDEN_MS = 30_000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

export function startConnection(tray) {
  const line = makeLine(document.getElementById("connection"));
  document.addEventListener("skales:connection", ({ detail }) => line.show(detail), true);
  if (!tray || document.getElementById("chat")?.dataset.session) return;
  const stream = new Stream(tray, line);
  stream.connect();
  // The conversation on this page began, and brings a stream of its own.
  document.addEventListener("skales:connection", () => stream.end(), { capture: true, once: true });
}

function makeLine(place) {
  let timer = 0;
  let isShown = false;

  function say() {
    isShown = true;
    place.hidden = false;
    announce(_("Skales does not answer. The page connects again by itself."));
  }

  return {
    // "open", "lost" or "trying".
    show(state) {
      if (state === "open") {
        clearTimeout(timer);
        timer = 0;
        place.hidden = true;
        if (isShown) announce(_("Skales answers again."));
        isShown = false;
      } else if (!timer && !isShown) {
        timer = setTimeout(say, PATIENCE_MS);
      }
    },
  };
}

class Stream {
  constructor(tray, line) {
    this.tray = tray;
    this.line = line;
    this.place = document.querySelector("[data-tray]").dataset.place;
    this.failures = 0;
    this.source = null;
    this.ended = false;
    document.addEventListener("visibilitychange", () => this.#noticeVisibility());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => {
      if (event.persisted) this.connect();
    });
  }

  connect() {
    if (this.ended) return;
    this.#close();
    this.source = new EventSource(`/ui/events?after=${encodeURIComponent(this.place)}`);
    this.source.addEventListener("open", () => {
      this.failures = 0;
      this.line.show("open");
    });
    this.source.addEventListener("notice-board", (event) => {
      const news = JSON.parse(event.data);
      this.place = news.place;
      this.tray.show(news);
      // Lists of what runs by itself ask again.
      document.body.dispatchEvent(new CustomEvent("skales:board"));
    });
    this.source.addEventListener("error", () => this.#noticeError());
  }

  end() {
    this.ended = true;
    this.#close();
  }

  #close() {
    clearTimeout(this.retry);
    this.source?.close();
    this.source = null;
  }

  #noticeVisibility() {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.#close(), HIDDEN_MS);
    else if (!this.source) this.connect();
  }

  // The browser's own attempts know neither a longer wait nor a page that must be introduced again.
  #noticeError() {
    this.line.show("lost");
    this.#close();
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    this.retry = setTimeout(() => this.#tryAgain(), wait);
  }

  async #tryAgain() {
    if (this.ended || document.hidden) return;
    this.line.show("trying");
    try {
      await fetchText("/ui/commands");
    } catch (error) {
      if (!error.status) {
        this.#noticeError();
        return;
      }
    }
    this.connect();
  }
}
