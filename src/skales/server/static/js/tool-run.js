// A tool run by hand: its form is sent, the server tells how it goes, and the run can be stopped.
// Frames of the stream: `progress` (label, done, total, words), `ask` and `asked` (what the tool wants to know, and that
// it does not any more) and `end` (the result as HTML).

import { showCard, takeCardAway } from "./approvals.js";
import { parseHtml } from "./dom.js";
import { readEvents } from "./events.js";
import { announce, toast } from "./feedback.js";
import { drawGauge } from "./gauge.js";
import { _ } from "./words.js";

// Shorter runs need no way to stop them.
const PATIENCE_MS = 400;

export function startToolRuns() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!("toolRun" in form.dataset)) return;
    event.preventDefault();
    run(form);
  });
}

async function run(form) {
  const button = form.querySelector("[type=submit]");
  const stop = form.querySelector("[data-tool-stop]");
  const gauge = form.querySelector("[data-tool-gauge]");
  const place = document.getElementById("tool-result");
  const asks = document.getElementById("tool-asks");
  const source = new AbortController();
  const end = () => source.abort();
  button.disabled = true;
  place.replaceChildren();
  stop.addEventListener("click", end);
  const patience = setTimeout(() => (stop.hidden = false), PATIENCE_MS);
  try {
    const body = new URLSearchParams(new FormData(form));
    for await (const { name, data } of readEvents(form.dataset.toolRun, { body, signal: source.signal })) {
      if (name === "progress") {
        gauge.hidden = false;
        drawGauge(gauge, data);
      } else if (name === "ask") {
        ask(asks, data);
      } else if (name === "asked") {
        takeCardAway(data.id);
        announce(data.text);
      } else if (name === "end") {
        place.replaceChildren(parseHtml(data.html));
      }
    }
  } catch (error) {
    if (!source.signal.aborted) toast(error.message);
  }
  if (source.signal.aborted) announce(_("The run was stopped"));
  clearTimeout(patience);
  stop.removeEventListener("click", end);
  const hadFocus = stop === document.activeElement || asks.contains(document.activeElement);
  asks.replaceChildren();
  stop.hidden = true;
  gauge.hidden = true;
  gauge.replaceChildren();
  button.disabled = false;
  if (hadFocus) button.focus();
}

function ask(place, { html, text }) {
  const card = parseHtml(html).firstElementChild;
  showCard(place, card);
  card.scrollIntoView({ block: "nearest" });
  announce(text);
}
