// Calls a DevKit route through the server, which holds the token, and shows the answer while it comes.

import { announce, toast } from "./feedback.js";
import { _ } from "./words.js";

const form = document.getElementById("call-form");
const cancel = document.getElementById("call-cancel");
const answer = document.getElementById("call-answer");
const status = document.getElementById("call-status");
const output = document.getElementById("call-output");
const send = form.querySelector("[type=submit]");
let running = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!running) call();
});
cancel.addEventListener("click", () => running?.abort());

async function call() {
  running = new AbortController();
  setRunning(true);
  try {
    await show(await ask(running.signal));
  } catch (error) {
    if (error.name === "AbortError") status.textContent = _("Cancelled");
    else toast(error.message);
  } finally {
    running = null;
    setRunning(false);
  }
}

async function ask(signal) {
  const query = Object.fromEntries([...form.querySelectorAll("[data-query]")].map((field) => [field.dataset.query, field.value]));
  const body = document.getElementById("call-body")?.value ?? "";
  const values = new URLSearchParams({ name: form.dataset.call, query: JSON.stringify(query), body });
  const told = await fetch("/ui/developer/call", { method: "POST", body: values, signal, credentials: "same-origin" });
  if (told.ok) return told;
  const { error, hint } = await told.json().catch(() => ({ error: _("The server answered %(status)s", { status: told.status }) }));
  throw new Error(hint ? `${error}. ${hint}.` : `${error}.`);
}

// The first line says how the call went; what follows is its body.
async function show(told) {
  const reader = told.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let about = null;
  for (;;) {
    const { value, done } = await reader.read();
    text += value ?? "";
    if (!about && text.includes("\n")) {
      const end = text.indexOf("\n");
      about = JSON.parse(text.slice(0, end));
      text = text.slice(end + 1);
      head(about);
    }
    if (about) output.textContent = done ? pretty(text, about) : text;
    if (done) break;
  }
  announce(_("The call was answered with %(status)s", { status: about?.status ?? "?" }));
}

function head({ status: code, reason, duration_ms: duration }) {
  answer.hidden = false;
  status.textContent = `${code} ${reason} · ${duration} ms`;
  status.className = `badge ${code < 400 ? "good" : "warn"}`;
}

function pretty(text, { type }) {
  if (!type.includes("json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function setRunning(on) {
  send.disabled = on;
  cancel.hidden = !on;
}
