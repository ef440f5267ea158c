// Parts of a provider's card that its server tells about as it goes: a probe's progress, and the tab of a sign-in.

import { parseHtml } from "./dom.js";
import { readEvents } from "./events.js";
import { announce, toast } from "./feedback.js";
import { _ } from "./words.js";

export function startProbe() {
  const running = new Map();
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-probe-start], [data-probe-stop]");
    const part = button?.closest("[data-probe]");
    if (!part) return;
    if ("probeStop" in button.dataset) running.get(part)?.abort();
    else if (!running.has(part)) run(part, running);
  });
  document.addEventListener("htmx:after:swap", openSignIn);
}

async function run(part, running) {
  const source = new AbortController();
  running.set(part, source);
  const findings = part.querySelector("[data-findings]");
  const before = [...findings.childNodes];
  findings.replaceChildren();
  part.querySelector("[role=alert]")?.remove();
  setRunning(part, true);
  let isOver = false;
  try {
    const address = `/ui/settings/providers/${encodeURIComponent(part.dataset.probe)}/probe`;
    for await (const { name, data } of readEvents(address, { body: new URLSearchParams(), signal: source.signal })) {
      if (name === "progress") drawProgress(part, data);
      else if (name === "finding") findings.append(parseHtml(data.html));
      else if (name === "end") {
        isOver = true;
        finish(part, data.html);
      }
    }
  } catch (error) {
    if (!source.signal.aborted) toast(error.message);
  }
  running.delete(part);
  if (isOver) return;
  // What an interrupted probe found is kept nowhere.
  findings.replaceChildren(...before);
  setRunning(part, false);
  announce(_("The probe was stopped"));
}

function finish(part, html) {
  const hadFocus = part.contains(document.activeElement);
  const fresh = parseHtml(html).firstElementChild;
  part.replaceWith(fresh);
  if (hadFocus) fresh.querySelector("[data-probe-start]").focus();
  const trouble = fresh.querySelector("[role=alert]");
  announce(trouble ? trouble.textContent.replace(/\s+/g, " ").trim() : _("The probe is done"));
}

function drawProgress(part, { label, done, total, words }) {
  const gauge = part.querySelector("[data-gauge]");
  const [title, numbers] = gauge.querySelectorAll("span");
  title.textContent = label;
  numbers.textContent = words;
  const bar = gauge.querySelector("progress");
  bar.max = total;
  bar.value = done;
}

function setRunning(part, isRunning) {
  part.querySelector("[data-gauge]").hidden = !isRunning;
  part.querySelector("[data-probe-stop]").hidden = !isRunning;
  part.querySelector("[data-probe-start]").disabled = isRunning;
  if (isRunning) part.querySelector("[data-probe-stop]").focus();
}

// Where a browser refuses to open a tab by itself, the link is there to click.
function openSignIn() {
  const link = document.querySelector("[data-sign-in-link][data-fresh]");
  if (!link) return;
  link.removeAttribute("data-fresh");
  window.open(link.href, "_blank", "noopener");
}
