// The conversation on the page: where it is scrolled to, older messages on the way up, entries put in by name.

import { parseHtml } from "./dom.js";
import { toast } from "./feedback.js";
import { fetchHtml } from "./http.js";

// Closer to the end than this counts as being there.
const AT_END_PX = 60;

export function startTranscript() {
  const scroll = document.getElementById("scroll");
  if (!scroll) return null;
  const transcript = new Transcript(scroll);
  transcript.attach();
  return transcript;
}

class Transcript {
  constructor(scroll) {
    this.scroll = scroll;
    this.session = document.getElementById("chat").dataset.session;
    this.newest = document.getElementById("newest");
    this.sticks = true;
    this.height = this.top = 0;
    this.grown = new ResizeObserver(() => this.#follow());
    this.seen = new IntersectionObserver((entries) => this.#reachTop(entries), { root: scroll, rootMargin: "600px 0px 0px" });
    scroll.addEventListener("scroll", () => this.#noticeScroll(), { passive: true });
    scroll.addEventListener("click", (event) => {
      if (event.target.closest("[data-older] button")) this.#loadOlder(event.target.closest("[data-older]"));
    });
    this.newest.addEventListener("click", () => this.toEnd());
  }

  // Takes up the elements of the page, at the start and after the transcript was replaced.
  attach() {
    this.root = document.getElementById("transcript");
    if (!this.root) return;
    this.saved = document.getElementById("saved");
    this.live = document.getElementById("live");
    this.queue = document.getElementById("queue");
    this.grown.disconnect();
    this.grown.observe(this.root);
    this.#watchTop();
    this.toEnd();
  }

  replace(html) {
    const fresh = parseHtml(html).querySelector("#transcript");
    const focused = document.activeElement;
    // A card that a person is answering keeps what they wrote, and the keyboard stays on it.
    for (const card of this.root?.querySelectorAll(".approval") ?? []) {
      fresh.querySelector(`#${CSS.escape(card.id)}`)?.replaceWith(card);
    }
    (this.root ?? this.scroll.firstElementChild).replaceWith(fresh);
    this.attach();
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  get place() {
    return this.root.dataset.place;
  }

  set busy(value) {
    this.scroll.setAttribute("aria-busy", String(value));
  }

  // What is not on disk comes again. Cards and steps under way stay: they come under the same name, and a person may be
  // on one of them with the keyboard.
  forgetLive() {
    for (const child of [...this.live.children]) {
      const stays = child.matches(".approval") || (child.matches(".step") && !isFinished(child));
      if (!stays) child.remove();
    }
  }

  // Puts an element where one of the same id is, else at the end of the live part.
  put(element) {
    const present = element.id && document.getElementById(element.id);
    if (present) present.replaceWith(element);
    else this.live.append(element);
  }

  // A tool step replaces the newest one of its key. Models count their calls anew each turn: one that begins while the
  // last of its key is finished is another call.
  putStep(key, element) {
    const known = [...this.root.querySelectorAll(`.step[data-call="${CSS.escape(key)}"]`)].at(-1);
    if (!known || (isFinished(known) && !isFinished(element))) {
      this.live.append(element);
      return;
    }
    element.open = known.open;
    const focused = known.contains(document.activeElement);
    known.replaceWith(element);
    if (focused) element.querySelector("summary").focus();
  }

  toEnd() {
    this.sticks = true;
    this.newest.hidden = true;
    this.scroll.scrollTop = this.scroll.scrollHeight;
    this.top = this.scroll.scrollTop;
    this.height = this.scroll.scrollHeight;
  }

  // Only a way up is a wish to stay; the end may also have moved down since the last scroll of our own.
  #noticeScroll() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroll;
    const isAtEnd = scrollHeight - clientHeight - scrollTop < AT_END_PX;
    if (isAtEnd) this.sticks = true;
    else if (scrollTop < this.top) this.sticks = false;
    this.top = scrollTop;
    if (this.sticks) this.newest.hidden = true;
  }

  #follow() {
    const height = this.scroll.scrollHeight;
    if (this.sticks) this.toEnd();
    else if (height > this.height + 4 && this.scroll.getAttribute("aria-busy") === "true") this.newest.hidden = false;
    this.height = height;
  }

  #watchTop() {
    this.seen.disconnect();
    const top = this.root.querySelector("[data-older]");
    if (top) this.seen.observe(top);
  }

  #reachTop(entries) {
    const entry = entries.find((candidate) => candidate.isIntersecting);
    if (entry) this.#loadOlder(entry.target);
  }

  async #loadOlder(marker) {
    if (marker.dataset.loading) return;
    marker.dataset.loading = "true";
    try {
      const html = await fetchHtml(`/ui/chat/${encodeURIComponent(this.session)}/older?before=${marker.dataset.older}`);
      // What is read stays where it is: the distance to the end does not change.
      const fromEnd = this.scroll.scrollHeight - this.scroll.scrollTop;
      this.scroll.setAttribute("aria-live", "off");
      marker.replaceWith(parseHtml(html));
      this.scroll.scrollTop = this.scroll.scrollHeight - fromEnd;
      this.height = this.scroll.scrollHeight;
      requestAnimationFrame(() => this.scroll.removeAttribute("aria-live"));
      this.#watchTop();
    } catch (error) {
      delete marker.dataset.loading;
      this.seen.unobserve(marker);
      toast(error.message);
    }
  }
}

function isFinished(step) {
  return step.dataset.state === "done" || step.dataset.state === "failed";
}
