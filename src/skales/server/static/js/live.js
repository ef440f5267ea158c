// The page's one live connection. It forgets and fetches again rather than guess: see `live.py` for the frames.

import { showCard, takeCardAway } from "./approvals.js";
import { StreamingAnswer } from "./answer.js";
import { parseHtml, tellPage } from "./dom.js";
import { announce } from "./feedback.js";
import { drawGauge } from "./gauge.js";
import { fetchHtml } from "./http.js";
import { showTitle } from "./sessions.js";

// A hidden page lets go of its connection after this time; browsers allow six to one server.
const HIDDEN_MS = 60_000;
const RETRY_MS = [500, 1000, 2000, 4000, 8000];

export function startLive(transcript) {
  const live = new Live(transcript);
  if (transcript.root) live.connect(transcript.place);
  return live;
}

class Live {
  constructor(transcript) {
    this.transcript = transcript;
    this.stop = document.getElementById("stop");
    this.place = "";
    this.failures = 0;
    this.source = null;
    this.answer = null;
    this.waiting = makeWaiting();
    document.addEventListener("visibilitychange", () => this.#noticeVisibility());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => {
      if (event.persisted && this.place) this.connect(this.place);
    });
  }

  connect(place) {
    this.#close();
    this.place = place;
    const address = `/ui/chat/${encodeURIComponent(this.transcript.session)}/events?after=${encodeURIComponent(place)}`;
    this.source = new EventSource(address);
    this.source.addEventListener("error", () => this.#noticeError());
    this.source.addEventListener("message", (event) => this.#take("text", event));
    for (const name of Object.keys(TAKERS)) {
      if (name !== "text") this.source.addEventListener(name, (event) => this.#take(name, event));
    }
  }

  #take(name, event) {
    this.failures = 0;
    if (event.lastEventId) this.place = event.lastEventId;
    if (ENDS_PROGRESS.has(name)) this.transcript.live.querySelector(".gauge")?.remove();
    TAKERS[name](this, JSON.parse(event.data));
    this.#showWaiting();
  }

  #close() {
    this.source?.close();
    this.source = null;
  }

  #noticeVisibility() {
    clearTimeout(this.hiding);
    if (document.hidden) this.hiding = setTimeout(() => this.#close(), HIDDEN_MS);
    else if (!this.source && this.place) this.connect(this.place);
  }

  // The browser tries again by itself while the server only went quiet; after a refusal we fetch the state anew.
  #noticeError() {
    if (this.source?.readyState !== EventSource.CLOSED) return;
    this.#close();
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    setTimeout(() => this.reload(), wait);
  }

  async reload() {
    this.#close();
    const session = encodeURIComponent(this.transcript.session);
    try {
      this.transcript.replace(await fetchHtml(`/ui/chat/${session}/transcript`));
    } catch (error) {
      if (error.status === 404) {
        location.reload();
        return;
      }
      const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
      this.failures += 1;
      setTimeout(() => this.reload(), wait);
      return;
    }
    this.connect(this.transcript.place);
  }

  setRunning(running) {
    this.transcript.root.dataset.running = String(running);
    this.transcript.busy = running;
    this.stop.hidden = !running;
  }

  // The streaming answer, made when its first piece comes.
  get streaming() {
    if (!this.answer) {
      this.answer = new StreamingAnswer();
      this.transcript.live.append(this.answer.article);
    }
    return this.answer;
  }

  dropAnswer() {
    this.answer?.article.remove();
    this.answer = null;
  }

  dropOutcomes() {
    for (const outcome of this.transcript.root.querySelectorAll(".outcome")) outcome.remove();
  }

  append(html) {
    this.transcript.live.append(parseHtml(html));
  }

  // A sign of life while a turn runs and nothing else on the page moves.
  #showWaiting() {
    const root = this.transcript.root;
    const moves = this.answer || root.querySelector(".gauge, [data-approval], .step:is([data-state=running], [data-state=open])");
    if (this.source && root.dataset.running === "true" && !moves) this.transcript.live.append(this.waiting);
    else this.waiting.remove();
  }
}

function makeWaiting() {
  const line = document.createElement("p");
  line.className = "waiting";
  const spinner = document.createElement("span");
  spinner.className = "spinner";
  line.append(spinner, "Working");
  return line;
}

// What comes after a long step says that it is over.
const ENDS_PROGRESS = new Set(["text", "tail", "think", "answer", "end"]);

const TAKERS = {
  text: (live, text) => live.streaming.grow(text),
  tail: (live, tail) => live.streaming.openTail(tail),
  block: (live, html) => live.streaming.finishBlock(html),
  think: (live, text) => live.streaming.think(text),

  sync: (live, { running }) => {
    live.answer = null;
    live.transcript.forgetLive();
    live.setRunning(running);
  },

  reload: (live) => live.reload(),

  turn: (live, { html, title }) => {
    showTitle(live.transcript.session, title);
    live.dropOutcomes();
    for (const button of live.transcript.root.querySelectorAll("[data-continue]")) button.remove();
    if (html) {
      live.transcript.put(parseHtml(html).firstElementChild);
      live.transcript.toEnd();
    }
    live.setRunning(true);
    tellPage("skales:sessions");
  },

  queue: (live, { html }) => live.transcript.queue.replaceChildren(parseHtml(html)),

  answer: (live, { html }) => {
    const element = parseHtml(html).firstElementChild;
    const streaming = live.answer?.article;
    live.answer = null;
    const present = element && document.getElementById(element.id);
    if (element && streaming && !present) {
      const thoughts = streaming.querySelector("details.thoughts");
      if (thoughts?.open) element.querySelector("details.thoughts").open = true;
      streaming.replaceWith(element);
      return;
    }
    streaming?.remove();
    if (element) live.transcript.put(element);
  },

  step: (live, { key, html }) => {
    live.transcript.putStep(key, parseHtml(html).firstElementChild);
  },

  ask: (live, { html, text }) => {
    showCard(live.transcript, parseHtml(html).firstElementChild);
    announce(text);
  },

  asked: (live, { id, text }) => {
    takeCardAway(id);
    announce(text);
  },

  notice: (live, { html, text }) => {
    live.append(html);
    announce(text);
  },

  progress: (live, progress) => {
    let gauge = live.transcript.live.querySelector(".gauge");
    if (!gauge) {
      gauge = document.createElement("div");
      gauge.className = "gauge";
      live.transcript.live.append(gauge);
    }
    drawGauge(gauge, progress);
    if (progress.total && progress.done >= progress.total) gauge.remove();
  },

  // The end of the last turn comes again whenever a page attaches; only one that is seen to end is news.
  end: (live, { html, text }) => {
    const isNews = live.transcript.root.dataset.running === "true";
    live.dropAnswer();
    live.setRunning(false);
    if (html) {
      live.dropOutcomes();
      live.append(html);
    }
    if (isNews) {
      announce(text);
      tellPage("skales:sessions");
    }
  },
};
