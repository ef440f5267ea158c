// Requests to our own server. Errors carry the server's words, for showing as they are.

import { _ } from "./words.js";

export class Trouble extends Error {
  constructor(message, hint, status) {
    super(hint ? `${message}. ${hint}.` : `${message}.`);
    this.status = status;
  }
}

export function unreachable() {
  return new Trouble(_("Skales does not answer"), _("Check that it is running, then try again"), 0);
}

export async function readTrouble(answer) {
  const told = await answer.json().catch(() => ({}));
  return new Trouble(told.error ?? _("The server answered %(status)s", { status: answer.status }), told.hint, answer.status);
}

async function ask(address, options) {
  let answer = await reach(address, options);
  if (answer.status === 401) {
    await introduce();
    answer = await reach(address, options);
  }
  if (answer.ok) return answer;
  throw await readTrouble(answer);
}

// The program was restarted and knows this page no more; opening a page introduces it again.
export async function introduce() {
  await reach("/chat", { headers: { accept: "text/html" } });
}

async function reach(address, options) {
  try {
    return await fetch(address, { credentials: "same-origin", ...options });
  } catch (error) {
    throw options.signal?.aborted ? error : unreachable();
  }
}

// The answer itself, for what is no text; `signal` gives it up.
export function fetchAnswer(address, { signal } = {}) {
  return ask(address, { signal });
}

export async function fetchHtml(address) {
  return (await ask(address, { headers: { accept: "text/html" } })).text();
}

export async function fetchText(address) {
  return (await ask(address, {})).text();
}

export async function fetchJson(address) {
  return (await ask(address, { headers: { accept: "application/json" } })).json();
}

export async function postForm(address, values = {}) {
  const answer = await ask(address, {
    method: "POST",
    headers: { accept: "application/json" },
    body: new URLSearchParams(values),
  });
  return answer.status === 204 ? null : answer.json();
}

export async function postJson(address, value) {
  const answer = await ask(address, {
    method: "POST",
    headers: { accept: "application/json", "content-type": "application/json" },
    body: JSON.stringify(value),
  });
  return answer.json();
}

export async function remove(address) {
  await ask(address, { method: "DELETE" });
}
