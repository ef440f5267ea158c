// Mermaid diagrams, each drawn in a frame of its own when it comes near the visible part of the conversation.

import { makeFrame, smallButton, tellFrame } from "./preview.js";
import { _ } from "./words.js";

const ADDRESS = "/ui/preview/diagram";
const NEAR = "400px 0px";
// A diagram that takes longer is given up, so that it does not keep the processor busy.
const PATIENCE_MS = 20_000;
const HIGHEST_PX = 6000;

const drawn = new Map();
let near = null;

export function drawWhenNear(figure, scroll) {
  near ??= new IntersectionObserver(noticeNear, { root: scroll, rootMargin: NEAR });
  figure.dataset.drawing = "waits";
  near.observe(figure);
}

export function toggleSource(button) {
  const shown = button.closest(".code").classList.toggle("with-source");
  button.setAttribute("aria-pressed", String(shown));
}

function noticeNear(entries) {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    draw(target);
  }
}

function draw(figure) {
  figure.dataset.drawing = "draws";
  const source = figure.querySelector("code").textContent;
  const place = document.createElement("div");
  place.className = "drawing";
  const patience = setTimeout(() => fail(figure, place, _("it takes too long")), PATIENCE_MS);
  const frame = makeFrame(ADDRESS, titleOf(source), (told) => {
    if (told.kind === "ready") paint(frame, source);
    else clearTimeout(patience);
    if (told.kind === "drawn" && isHeight(told.height)) show(figure, frame, told.height);
    if (told.kind === "failed") fail(figure, place, String(told.reason).slice(0, 300));
  });
  place.append(frame);
  figure.querySelector("pre").before(place);
  drawn.set(frame, source);
}

function paint(frame, source) {
  tellFrame(frame, { kind: "draw", source, dark: isDark() });
}

function isHeight(height) {
  return Number.isFinite(height) && height > 0 && height <= HIGHEST_PX;
}

function show(figure, frame, height) {
  frame.style.height = `${height}px`;
  if (figure.classList.contains("drawn")) return;
  figure.classList.add("drawn");
  figure.dataset.drawing = "done";
  const button = smallButton("source", _("Code"));
  button.setAttribute("aria-pressed", "false");
  figure.querySelector(".actions").prepend(button);
}

function fail(figure, place, reason) {
  drawn.delete(place.firstElementChild);
  figure.classList.remove("drawn");
  figure.dataset.drawing = "failed";
  const words = document.createElement("p");
  words.className = "trouble";
  words.textContent = _("This diagram could not be drawn: %(reason)s", { reason });
  place.replaceWith(words);
}

// `accTitle` is Mermaid's own word for what a listener should hear.
function titleOf(source) {
  const told = source.match(/^\s*(?:accTitle\s*:|title:?)\s*(.+)$/m)?.[1].trim();
  return told ? _("Diagram: %(title)s", { title: told.slice(0, 200) }) : _("Diagram; its code says the same in words");
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function repaint() {
  for (const [frame, source] of drawn) {
    if (frame.isConnected) paint(frame, source);
    else drawn.delete(frame);
  }
}

new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
