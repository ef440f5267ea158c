// What the buttons of blocks in an answer do: code, tables, pictures. Previews and diagrams load when there is one.

import { _ } from "./words.js";

export function startBlocks() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const act = button && Object.entries(ACTIONS).find(([selector]) => button.matches(selector))?.[1];
    act?.(button);
  });
  // Errors of pictures do not bubble.
  document.addEventListener("error", (event) => replaceLostPicture(event.target), { capture: true });
  const scroll = document.getElementById("scroll");
  if (scroll) watchForDiagrams(scroll);
}

const ACTIONS = {
  ".code .wrap": toggleWrap,
  ".code .download": download,
  ".code .unfold": unfold,
  ".code .preview": async (button) => (await import("./preview.js")).togglePreview(button.closest(".code")),
  ".code .reload": async (button) => (await import("./preview.js")).reloadPreview(button.closest(".code")),
  ".code .enlarge": async (button) => (await import("./preview.js")).enlargePreview(button.closest(".code")),
  ".code .source": async (button) => (await import("./diagram.js")).toggleSource(button),
  ".zoom": async (button) => (await import("./preview.js")).enlargePicture(button.querySelector("img")),
};

function toggleWrap(button) {
  const wrapped = button.closest(".code").classList.toggle("wrapped");
  button.setAttribute("aria-pressed", String(wrapped));
}

function download(button) {
  const code = button.closest(".code").querySelector("code").textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([code], { type: "text/plain;charset=utf-8" }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function unfold(button) {
  const figure = button.closest(".code");
  figure.classList.add("unfolded");
  figure.querySelector("pre").focus({ preventScroll: true });
}

function replaceLostPicture(picture) {
  if (!(picture instanceof HTMLImageElement) || !picture.matches(".zoom img")) return;
  const words = document.createElement("span");
  words.className = "lost-picture";
  const name = picture.alt || new URL(picture.src).searchParams.get("path")?.split("/").at(-1) || "";
  words.textContent = name ? _("The picture %(name)s cannot be shown", { name }) : _("A picture cannot be shown");
  picture.closest(".zoom").replaceWith(words);
}

// A diagram is drawn only when its answer is over.
const UNDRAWN = ".message-answer:not(.streaming) figure.diagram:not([data-drawing])";

function watchForDiagrams(scroll) {
  const look = async () => {
    if (!scroll.querySelector(UNDRAWN)) return;
    const { drawWhenNear } = await import("./diagram.js");
    for (const figure of scroll.querySelectorAll(UNDRAWN)) drawWhenNear(figure, scroll);
  };
  new MutationObserver(look).observe(scroll, { childList: true, subtree: true });
  look();
}
