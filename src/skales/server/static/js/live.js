// The conversation's live connection, the only one of its tab. It forgets and fetches again rather than guess: see
// `live.py` for the frames. Others hear of it by events on the document: `skales:connection` with `open`, `lost` or
// `trying`, and `skales:<name>` with the data of every frame that is not about the conversation.

import { StreamingAnswer } from "./answer.js";
import { parseHtml } from "./dom.js";
import { readEvents } from "./events.js";
import { fetchHtml } from "./http.js";
import { TAKERS } from "./frames.js";
import { markQuiet } from "./messages.js";
import { showLost } from "./lost.js";
import { _ } from "./words.js";

const RETRY_MS = [500, 1000, 2000, 4000, 8000];
// What comes after a long step says that it is over.
const ENDS_PROGRESS = new Set(["message", "tail", "think", "answer", "end"]);

export function startLive(transcript) {
  const live = new Live(transcript);
  if (transcript.root) live.connect(transcript.place);
  transcript.jumpToAddress();
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
    transcript.refetch = (at) => this.reload(at);
    transcript.arrive = (place) => this.connect(place);
    document.addEventListener("visibilitychange", () => this.#noticeVisibility());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", (event) => {
      if (event.persisted && this.place) this.connect(this.place);
    });
  }

  // A hidden page has no connection: it asks for what it missed when it is seen again.
  connect(place) {
    this.#close();
    this.place = place;
    if (document.hidden) return;
    this.source = new AbortController();
    this.#listen(this.source.signal);
  }

  async #listen(signal) {
    const address = `/ui/chat/${encodeURIComponent(this.transcript.session)}/events?after=${encodeURIComponent(this.place)}`;
    try {
      for await (const event of readEvents(address, { method: "GET", signal })) {
        if (signal.aborted) return;
        if (this.failures || !this.isOpen) this.#tell("open");
        this.failures = 0;
        this.#take(event);
      }
      if (!signal.aborted) this.#lose();
    } catch (error) {
      if (signal.aborted) return;
      // A server that refuses is there; what it says to the transcript decides.
      if (error.status) this.#tryLater();
      else this.#lose();
    }
  }

  #take({ name, data, id }) {
    if (id) this.place = id;
    const taker = TAKERS[name];
    if (!taker) {
      document.dispatchEvent(new CustomEvent(`skales:${name}`, { detail: data }));
      return;
    }
    if (ENDS_PROGRESS.has(name)) this.transcript.live.querySelector(".gauge")?.remove();
    try {
      taker(this, data);
      this.#showWaiting();
    } catch (error) {
      // A fault of our own must be seen, not taken for a lost connection.
      reportError(error);
    }
  }

  #tell(state) {
    this.isOpen = state === "open";
    document.dispatchEvent(new CustomEvent("skales:connection", { detail: state }));
  }

  #close() {
    clearTimeout(this.retry);
    this.source?.abort();
    this.source = null;
    this.isOpen = false;
  }

  #noticeVisibility() {
    if (document.hidden) this.#close();
    else if (!this.source && this.place) this.connect(this.place);
  }

  #lose() {
    this.#close();
    this.#tell("lost");
    this.#tryLater();
  }

  #tryLater() {
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    this.retry = setTimeout(() => this.reload(), wait);
  }

  // Fetches what the disk has, around a message when one is named, and goes on from there.
  async reload(at = this.transcript.anchorIndex) {
    this.#close();
    const mine = (this.fetching = Symbol("the newest of several"));
    if (this.failures) this.#tell("trying");
    const session = encodeURIComponent(this.transcript.session);
    let html;
    try {
      html = await fetchHtml(`/ui/chat/${session}/transcript${at ? `?at=${at}` : ""}`);
    } catch (error) {
      if (this.fetching !== mine) return;
      if (!error.status) {
        this.#tryLater();
        return;
      }
      this.#tell("open");
      showLost(this, error);
      return;
    }
    if (this.fetching !== mine) return;
    if (at === "") this.transcript.sticks = true;
    this.transcript.replace(html);
    this.answer = null;
    this.setRunning(this.transcript.running);
    this.connect(this.transcript.place);
    // What was read meanwhile, or lies behind a rewind, was told to nobody.
    document.dispatchEvent(new CustomEvent("skales:marks"));
  }

  setRunning(running) {
    this.transcript.root.dataset.running = String(running);
    this.transcript.busy = running;
    this.stop.hidden = !running;
    markQuiet(this.transcript.root, running);
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
    const { root, live, running } = this.transcript;
    const moves = this.answer || root.querySelector(".gauge, [data-approval], .step:is([data-state=running], [data-state=open])");
    if (this.source && running && !moves) live.append(this.waiting);
    else this.waiting.remove();
  }
}

function makeWaiting() {
  const line = document.createElement("p");
  line.className = "waiting";
  const spinner = document.createElement("span");
  spinner.className = "spinner";
  line.append(spinner, _("Working"));
  return line;
}
