// The conversation on the page: where it is scrolled to, what of it is shown, entries put in by name.

import { parseHtml } from "./dom.js";
import { groupSteps, isFinished, keepOpen } from "./steps.js";
import { Stretches } from "./stretches.js";
import { _, ngettext } from "./words.js";

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
    this.height = this.top = this.unseen = 0;
    // Set by the live connection: fetch the transcript (around a message), go on from a place.
    this.refetch = this.arrive = () => {};
    this.stretches = new Stretches(this);
    this.grown = new ResizeObserver(() => this.#follow());
    scroll.addEventListener("scroll", () => this.#noticeScroll(), { passive: true });
    this.newest.addEventListener("click", () => this.leave());
    addEventListener("hashchange", () => this.jumpToAddress());
    document.addEventListener("skales:jump", ({ detail }) => this.jump(detail.index), true);
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
    this.stretches.watch();
    this.toEnd();
  }

  // What is read stays in place, what is open stays open, and a card that a person is answering keeps what they wrote.
  replace(html) {
    const anchor = this.anchor ?? this.#readAnchor();
    this.anchor = null;
    const fresh = parseHtml(html).querySelector("#transcript");
    const focused = document.activeElement;
    for (const card of this.root?.querySelectorAll(".approval") ?? []) {
      fresh.querySelector(`#${CSS.escape(card.id)}`)?.replaceWith(card);
    }
    const reopen = keepOpen(this.root);
    (this.root ?? this.scroll.firstElementChild).replaceWith(fresh);
    reopen(fresh);
    this.attach();
    if (anchor) this.#restore(anchor);
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  // The topmost message in view; none while the page follows the end.
  #readAnchor() {
    if (this.sticks || !this.root) return null;
    const edge = this.scroll.getBoundingClientRect().top;
    const message = [...this.root.querySelectorAll(".message[id]")].find((found) => found.getBoundingClientRect().bottom > edge);
    return message ? { id: message.id, top: message.getBoundingClientRect().top } : null;
  }

  get anchorIndex() {
    return (this.anchor ?? this.#readAnchor())?.id.slice(2) ?? "";
  }

  #restore({ id, top, focus }) {
    const message = document.getElementById(id);
    if (!message) return;
    this.sticks = false;
    this.scroll.scrollTop += message.getBoundingClientRect().top - top;
    this.#noticeScroll();
    if (focus) this.root.querySelector(focus)?.focus({ preventScroll: true });
  }

  get place() {
    return this.root.dataset.place;
  }

  get running() {
    return this.root?.dataset.running === "true";
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
    if (!present && !this.sticks && element.matches(".message")) this.unseen += 1;
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

  // The turn is over: what is on disk joins the rest, and what is far above is let go.
  settle() {
    const last = [...this.live.children].findLastIndex((child) => child.matches(".message, .step"));
    const settled = [...this.live.children].slice(0, last + 1);
    // What was read while it came must not fold under the reader.
    for (const code of settled.flatMap((entry) => [...entry.querySelectorAll(".code.long")])) code.classList.add("unfolded");
    this.saved.append(...settled);
    groupSteps(this.saved);
    if (this.sticks) this.stretches.dropAbove();
  }

  // To the end, wherever that is: it may not be on the page.
  leave() {
    if (this.stretches.isDetached) this.refetch("");
    else this.toEnd();
    const card = this.root?.querySelector("[data-approval]");
    // What is asked is read before the answers, also where both do not fit.
    if (card && card.offsetHeight > this.scroll.clientHeight) card.scrollIntoView({ block: "start" });
    (card ?? document.getElementById("message")).focus({ preventScroll: true });
  }

  toEnd() {
    this.sticks = !this.stretches.isDetached;
    this.#hideNewest();
    this.scroll.scrollTop = this.scroll.scrollHeight;
    this.top = this.scroll.scrollTop;
    this.height = this.scroll.scrollHeight;
  }

  async jump(index) {
    if (!document.getElementById(`m-${index}`)) await this.refetch(String(index));
    const message = document.getElementById(`m-${index}`);
    if (!message) return;
    this.sticks = false;
    message.tabIndex = -1;
    message.focus({ preventScroll: true });
    message.scrollIntoView({ block: "start" });
    message.classList.add("sought");
    this.#noticeScroll();
  }

  // `?at=7` and `#m-7` lead to a message.
  jumpToAddress() {
    const index = /^#m-(\d+)$/.exec(location.hash)?.[1] ?? new URLSearchParams(location.search).get("at");
    if (this.root && index !== null && /^\d+$/.test(index)) this.jump(index);
  }

  // Only a way up is a wish to stay; the end may also have moved down since the last scroll of our own.
  #noticeScroll() {
    if (!this.root) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroll;
    const isAtEnd = scrollHeight - clientHeight - scrollTop < AT_END_PX && !this.stretches.isDetached;
    if (isAtEnd) this.sticks = true;
    else if (scrollTop < this.top) this.sticks = false;
    this.top = scrollTop;
    if (this.sticks) this.#hideNewest();
    else if (this.stretches.isDetached || this.root.querySelector("[data-approval]")) this.showNewest();
  }

  #follow() {
    const height = this.scroll.scrollHeight;
    if (this.sticks) this.toEnd();
    else if (height > this.height + 4 && this.running) this.showNewest();
    this.height = height;
  }

  #hideNewest() {
    this.newest.hidden = true;
    this.unseen = 0;
  }

  // Says what is to be seen at the end. A question that waits comes first.
  showNewest() {
    if (!this.root || this.sticks) return;
    const words = this.root.querySelector("[data-approval]")
      ? _("Waiting for you")
      : this.unseen
        ? ngettext("%(num)d new message", "%(num)d new messages", this.unseen)
        : this.running
          ? _("New output")
          : _("To the end");
    const label = [...this.newest.childNodes].findLast((node) => node.nodeType === Node.TEXT_NODE || node.matches("span"));
    if (label.textContent !== words) label.textContent = words;
    this.newest.hidden = false;
  }
}
