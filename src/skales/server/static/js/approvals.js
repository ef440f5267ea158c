// Cards that wait for a person: answering them, their countdown, and where the focus goes.

import { isTyping } from "./dom.js";
import { announce } from "./feedback.js";
import { postJson } from "./http.js";
import { _ } from "./words.js";

const SOON_S = 60;

export function startApprovals() {
  document.addEventListener("submit", (event) => {
    const card = event.target.closest("[data-approval]");
    if (!card) return;
    event.preventDefault();
    answer(card, event.submitter?.dataset.answer ?? "approve");
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-approval] [data-answer][type=button], [data-approval] [data-option]");
    if (!button) return;
    const card = button.closest("[data-approval]");
    if (button.dataset.option) card.querySelector("[name=instead]").value = button.dataset.option;
    answer(card, button.dataset.option ? "question" : button.dataset.answer);
  });
  document.addEventListener("keydown", (event) => {
    // Enter in the "instead" field of a tool's card means No: it must never allow.
    const card = event.key === "Enter" && event.target.matches("[data-approval] [name=instead]") && event.target.closest("[data-approval]");
    if (card && card.querySelector("[data-answer=instead]")) {
      event.preventDefault();
      answer(card, "instead");
    }
  });
  setInterval(tick, 1000);
  tick();
}

async function answer(card, wish) {
  const form = card.querySelector("form");
  const problem = form.querySelector(".field-error");
  problem.hidden = true;
  try {
    const body = buildAnswer(form, wish);
    for (const control of form.elements) control.disabled = true;
    await postJson(`/api/approvals/${encodeURIComponent(card.dataset.approval)}`, body);
    takeCardAway(card.dataset.approval);
  } catch (error) {
    for (const control of form.elements) control.disabled = false;
    problem.textContent = error.message;
    problem.hidden = false;
    if (error.status === 404) setTimeout(() => takeCardAway(card.dataset.approval), 2500);
  }
}

function buildAnswer(form, wish) {
  const instead = form.elements.instead.value.trim();
  if (wish === "reject") return { decision: "reject", surface: "page" };
  if (wish === "instead" || wish === "question") {
    if (!instead) {
      form.elements.instead.focus();
      throw new Error(wish === "question" ? _("Write an answer first.") : _("Write what to do instead."));
    }
    return { decision: wish === "question" ? "approve" : "reject", instead, surface: "page" };
  }
  const [scope, lasts = "revoked"] = (form.elements.scope?.value ?? "once").split(":");
  return { decision: "approve", scope, lasts, surface: "page", ...changedArguments(form) };
}

// Nothing when the person changed nothing: what the model wrote is not respelled.
function changedArguments(form) {
  const whole = form.elements.args;
  const changed = [...form.querySelectorAll("[data-argument]")].filter(isChanged);
  if (!changed.length && whole.value === whole.defaultValue) return {};
  let args;
  try {
    args = JSON.parse(whole.value);
  } catch {
    whole.closest("details").open = true;
    whole.focus();
    throw new Error(_("The arguments are not valid JSON."));
  }
  for (const field of changed) {
    if (field.required && !field.value.trim()) {
      field.focus();
      throw new Error(_("%(name)s must not be empty.", { name: field.labels[0].textContent.trim() }));
    }
    const read = READERS[field.dataset.kind];
    const value = read ? read(field) : field.value;
    if (value === null) delete args[field.dataset.argument];
    else args[field.dataset.argument] = value;
  }
  return { args };
}

function isChanged(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.matches("select")) return !field.selectedOptions[0]?.defaultSelected;
  return field.value !== field.defaultValue;
}

// What is not written as text. An empty number or choice is none; the server checks the rest.
const READERS = {
  switch: (field) => field.checked,
  number: (field) => (field.value === "" ? null : field.valueAsNumber),
  choice: (field) => field.value || null,
  list: (field) => field.value.split("\n").map((line) => line.trim()).filter(Boolean),
};

// Puts a card below its step. The focus follows only when the person is not writing.
export function showCard(place, card) {
  if (document.getElementById(card.id)) return;
  place.append(card);
  tick();
  // The card itself and not its button: a key that was meant for the message must not allow anything.
  if (!isTyping() && !document.querySelector("dialog[open]")) card.focus({ preventScroll: true });
}

export function takeCardAway(id) {
  const card = document.getElementById(`approval-${id}`);
  if (!card) return;
  const hadFocus = card.contains(document.activeElement) || document.activeElement === document.body;
  (card.closest("[data-asked]") ?? card).remove();
  if (hadFocus) findPlaceAfter().focus({ preventScroll: true });
}

// Where a person goes on after an answer: the message, the run that waited, else the page.
function findPlaceAfter() {
  return (
    document.getElementById("message") ??
    document.querySelector("[data-tool-stop]:not([hidden])") ??
    document.getElementById("main")
  );
}

function tick() {
  for (const place of document.querySelectorAll("[data-deadline]")) {
    const left_s = Math.max(0, Math.round((Number(place.dataset.deadline) - Date.now()) / 1000));
    place.textContent = left_s > 5940 ? "" : `${Math.floor(left_s / 60)}:${String(left_s % 60).padStart(2, "0")}`;
    if (left_s === SOON_S) announce(_("One minute left to answer"));
  }
}
