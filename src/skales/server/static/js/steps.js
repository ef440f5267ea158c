// Tool steps: runs of them under one line once their turn is over, and what is open stays open.

import { _, ngettext } from "./words.js";

export function isFinished(step) {
  return step.dataset.state === "done" || step.dataset.state === "failed";
}

// Puts neighbours together, as the server does for a conversation that is opened.
export function groupSteps(root) {
  for (const first of root.querySelectorAll(":scope > .step")) {
    if (!first.isConnected || first.parentElement !== root || first.previousElementSibling?.matches(".step")) continue;
    const run = [first];
    while (run.at(-1).nextElementSibling?.matches(".step")) run.push(run.at(-1).nextElementSibling);
    if (run.length > 1 && run.every(isFinished)) wrap(run);
  }
}

function wrap(run) {
  const failed = run.filter((step) => step.dataset.state === "failed").length;
  const group = document.createElement("details");
  group.className = "steps";
  const summary = document.createElement("summary");
  const action = document.createElement("span");
  action.className = "action";
  action.textContent = countSteps(run.length, failed);
  const worst = run.find((step) => step.dataset.state === (failed ? "failed" : "done"));
  summary.append(worst.querySelector("summary > .step-state").cloneNode(true), action, worst.querySelector(".turner").cloneNode(true));
  group.append(summary);
  group.open = run.some((step) => step.open || step.contains(document.activeElement));
  run[0].before(group);
  group.append(...run);
}

export function countSteps(total, failed) {
  const steps = ngettext("%(num)d step", "%(num)d steps", total);
  if (!failed) return steps;
  return _("%(steps)s, %(failed)s", { steps, failed: ngettext("%(num)d failed", "%(num)d failed", failed) });
}

// Remembers which details are open, for putting the same ones of a fresh transcript into the same state. Names repeat
// over the turns, so they are counted from the end.
export function keepOpen(root) {
  const open = new Set([...named(root)].filter(([, details]) => details.open).map(([name]) => name));
  return (fresh) => {
    for (const [name, details] of named(fresh)) if (open.has(name)) details.open = true;
  };
}

function* named(root) {
  const counts = new Map();
  for (const details of [...(root?.querySelectorAll("details") ?? [])].reverse()) {
    const step = details.matches(".steps") ? details.querySelector(".step") : details.closest(".step");
    const owner = step?.dataset.call ?? details.closest("[id]")?.id;
    const plain = `${details.className}/${owner}`;
    counts.set(plain, (counts.get(plain) ?? 0) + 1);
    yield [`${plain}/${counts.get(plain)}`, details];
  }
}
