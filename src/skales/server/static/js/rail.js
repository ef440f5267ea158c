// The sidebar as a rail of icons. `early.js` applies what was chosen before the page is painted.

import { announce } from "./feedback.js";
import { _ } from "./words.js";

const KEY = "skales:rail";

export function startRail() {
  showState();
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-rail-toggle]")) toggleRail();
  });
  // Another tab chose.
  addEventListener("storage", (event) => {
    if (event.key === KEY) set(event.newValue === "on");
  });
}

export function toggleRail() {
  const narrow = !isNarrow();
  set(narrow);
  try {
    localStorage.setItem(KEY, narrow ? "on" : "off");
  } catch {
    // It stays so until the page is left.
  }
  announce(narrow ? _("Sidebar collapsed") : _("Sidebar expanded"));
}

function isNarrow() {
  return document.documentElement.dataset.rail === "on";
}

function set(narrow) {
  if (narrow) document.documentElement.dataset.rail = "on";
  else delete document.documentElement.dataset.rail;
  showState();
}

function showState() {
  for (const button of document.querySelectorAll("[data-rail-toggle]")) {
    button.setAttribute("aria-expanded", String(!isNarrow()));
  }
}
