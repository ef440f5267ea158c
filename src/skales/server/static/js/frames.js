// What each frame of the live connection does to the page; `live.py` says when they come.

import { showCard, takeCardAway } from "./approvals.js";
import { parseHtml, tellPage } from "./dom.js";
import { announce } from "./feedback.js";
import { drawGauge } from "./gauge.js";
import { markQuiet } from "./messages.js";
import { showTitle } from "./sessions.js";
import { countSteps } from "./steps.js";
import { _ } from "./words.js";

const HEARD_CHARACTERS = 160;

export const TAKERS = {
  message: (live, text) => live.streaming.grow(text),
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

  queue: (live, { html }) => {
    // What a person is changing stays as it is; it is refused when it was sent meanwhile.
    if (!live.transcript.queue.querySelector("form")) live.transcript.queue.replaceChildren(parseHtml(html));
  },

  answer: (live, { html }) => {
    const element = parseHtml(html).firstElementChild;
    const streaming = live.answer?.article;
    live.answer = null;
    if (element) markQuiet(element, live.transcript.running);
    const present = element && document.getElementById(element.id);
    if (element && streaming && !present) {
      const thoughts = streaming.querySelector("details.thoughts");
      if (thoughts?.open) element.querySelector("details.thoughts").open = true;
      streaming.replaceWith(element);
      if (!live.transcript.sticks) live.transcript.unseen += 1;
      return;
    }
    streaming?.remove();
    if (element) live.transcript.put(element);
  },

  step: (live, { key, html }) => live.transcript.putStep(key, parseHtml(html).firstElementChild),

  ask: (live, { html, text }) => {
    showCard(live.transcript.live, parseHtml(html).firstElementChild);
    live.transcript.showNewest();
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
    const isNews = live.transcript.running;
    live.dropAnswer();
    const words = text || sumUp(live.transcript.live);
    live.transcript.settle();
    live.setRunning(false);
    if (html) {
      live.dropOutcomes();
      live.append(html);
    }
    if (!live.transcript.sticks && isNews) live.transcript.showNewest();
    if (isNews) {
      announce(words);
      tellPage("skales:sessions");
    }
  },
};

// What a turn brought, for ears: its steps as a number and the beginning of its answer.
function sumUp(root) {
  const steps = [...root.querySelectorAll(".step")];
  const failed = steps.filter((step) => step.dataset.state === "failed").length;
  const answer = [...root.querySelectorAll(".message-answer .prose")].at(-1)?.textContent.replace(/\s+/g, " ").trim() ?? "";
  const short = answer.length > HEARD_CHARACTERS ? `${answer.slice(0, HEARD_CHARACTERS).replace(/\s\S*$/, "")} …` : answer;
  const parts = [steps.length ? `${countSteps(steps.length, failed)}.` : "", short ? _("Skales answered: %(text)s", { text: short }) : ""];
  return parts.filter(Boolean).join(" ") || _("Done");
}
