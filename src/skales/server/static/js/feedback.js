// What the page says besides its content: toasts that are seen, announcements that are only heard.

import { _ } from "./words.js";

const TOAST_MS = 8000;

export function announce(text) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  // A new text in the same frame is not always noticed as a change.
  requestAnimationFrame(() => {
    place.textContent = text;
  });
}

// A toast with at most one action; it stays while the pointer or the focus is in it. The action may return a promise.
export function toast(text, action = null) {
  const box = document.createElement("div");
  box.className = "toast";
  const words = document.createElement("p");
  words.textContent = text;
  box.append(words);
  if (action) box.append(actionButton(box, action));
  document.getElementById("toasts").append(box);
  leaveLater(box);
  return box;
}

export function fillToast(box, text, action) {
  const words = document.createElement("p");
  words.textContent = text;
  box.replaceChildren(words, actionButton(box, action));
  leaveLater(box);
}

function actionButton(box, { words, run }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet small";
  button.textContent = words;
  button.addEventListener("click", async () => {
    box.remove();
    try {
      await run();
    } catch (error) {
      toast(error.message);
    }
  });
  return button;
}

// What htmx could not do, in the server's own words.
export function startFeedback() {
  document.addEventListener("htmx:response:error", ({ detail }) => {
    // The program was restarted and knows this page no more; opening it again introduces it.
    if (detail.ctx.response.status === 401) location.reload();
    else toast(wordsOf(detail.ctx.text));
  });
  document.addEventListener("htmx:error", ({ detail }) => {
    if (detail.ctx) toast(_("Skales does not answer. Check that it is running, then try again."));
  });
}

function wordsOf(text) {
  try {
    const { error, hint } = JSON.parse(text);
    return hint ? `${error}. ${hint}.` : `${error}.`;
  } catch {
    return _("That did not work. The log says why.");
  }
}

function leaveLater(box) {
  let timer = setTimeout(() => box.remove(), TOAST_MS);
  const stay = () => clearTimeout(timer);
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(() => box.remove(), TOAST_MS);
  };
  for (const name of ["pointerenter", "focusin"]) box.addEventListener(name, stay);
  for (const name of ["pointerleave", "focusout"]) box.addEventListener(name, leave);
}
