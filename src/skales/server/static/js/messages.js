// What a person does with a message that stands in the conversation: say it differently, have it answered again, go off
// in a new conversation, undo a summary, change or take back what still waits.

import { announce, toast } from "./feedback.js";
import { postForm } from "./http.js";
import { _ } from "./words.js";

export function startMessages(transcript, live) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-edit], [data-again], [data-branch], [data-unqueue], [data-send-now], [data-undo-summary]");
    if (!button || refuse(button)) return;
    const message = button.closest(".message");
    if ("edit" in button.dataset) openEditor(transcript, live, message);
    else if ("again" in button.dataset) act(transcript, live, `messages/${button.dataset.again}/again`);
    else if ("branch" in button.dataset) branch(transcript, message);
    else if ("unqueue" in button.dataset) act(transcript, live, `queue/${message.dataset.waiting}/remove`, { before: wordsOf(message) });
    else if ("undoSummary" in button.dataset) act(transcript, live, "compaction/undo", { up_to: button.dataset.undoSummary });
    else act(transcript, live, "stop");
  });
}

// Marks what is not possible while a turn runs; pressing it says why.
export function markQuiet(root, running) {
  for (const button of root.querySelectorAll("[data-quiet]")) {
    if (running || "end" in button.dataset) button.setAttribute("aria-disabled", "true");
    else button.removeAttribute("aria-disabled");
  }
}

// Whether a button is out of use now. Says the reason.
export function refuse(button) {
  if (button.getAttribute("aria-disabled") !== "true") return false;
  if (!("end" in button.dataset)) toast(_("Not while an answer is being written. Stop it or wait for its end."));
  return true;
}

async function act(transcript, live, what, values = {}) {
  try {
    await postForm(`/ui/chat/${encodeURIComponent(transcript.session)}/${what}`, values);
  } catch (error) {
    toast(error.message);
    return false;
  }
  if (!live.source) live.connect(live.place);
  return true;
}

async function branch(transcript, message) {
  try {
    const { go } = await postForm(`/ui/chat/${encodeURIComponent(transcript.session)}/messages/${message.id.slice(2)}/branch`);
    location.assign(go);
  } catch (error) {
    toast(error.message);
  }
}

function wordsOf(message) {
  return message.querySelector(".said > .words")?.textContent ?? "";
}

function openEditor(transcript, live, message) {
  if (message.querySelector("form")) return;
  const before = wordsOf(message);
  const waits = message.dataset.waiting;
  const { form, field, problem } = makeEditor(before, waits === undefined);
  message.classList.add("edited");
  message.querySelector(".said").after(form);
  field.focus();
  field.setSelectionRange(before.length, before.length);
  grow(field);

  function close() {
    form.remove();
    message.classList.remove("edited");
    message.querySelector("[data-edit]")?.focus({ preventScroll: true });
  }

  form.addEventListener("click", (event) => {
    if (event.target.closest("[data-cancel]")) close();
  });
  field.addEventListener("input", () => grow(field));
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const session = encodeURIComponent(transcript.session);
    const where = waits === undefined ? `messages/${message.id.slice(2)}/edit` : `queue/${waits}/edit`;
    problem.hidden = true;
    try {
      if (waits !== undefined) close();
      await postForm(`/ui/chat/${session}/${where}`, { text: field.value, before });
    } catch (error) {
      if (!form.isConnected) toast(error.message);
      problem.textContent = error.message;
      problem.hidden = false;
      return;
    }
    announce(_("Sent"));
    if (form.isConnected) close();
    transcript.sticks = true;
    document.getElementById("message").focus({ preventScroll: true });
    if (!live.source) live.connect(live.place);
  });
}

function makeEditor(text, isSent) {
  const form = document.createElement("form");
  form.className = "editor";
  const field = document.createElement("textarea");
  field.className = "input";
  field.value = text;
  field.setAttribute("aria-label", _("Your message"));
  const help = document.createElement("p");
  help.className = "help";
  help.textContent = isSent ? _("What followed is kept as another version.") : _("It is still waiting.");
  const row = document.createElement("div");
  row.className = "row";
  row.append(makeButton(_("Cancel"), "button small", { "data-cancel": "" }), makeButton(isSent ? _("Send") : _("Keep"), "button small primary", {}, "submit"));
  const problem = document.createElement("p");
  problem.className = "field-error";
  problem.role = "alert";
  problem.hidden = true;
  form.append(field, help, row, problem);
  return { form, field, problem };
}

function makeButton(words, name, attributes, type = "button") {
  const button = document.createElement("button");
  button.type = type;
  button.className = name;
  button.textContent = words;
  for (const [key, value] of Object.entries(attributes)) button.setAttribute(key, value);
  return button;
}

// Browsers with `field-sizing` do this by themselves.
function grow(field) {
  if (!CSS.supports("field-sizing", "content")) field.rows = Math.min(14, field.value.split("\n").length + 1);
}
