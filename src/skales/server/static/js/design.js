// The samples page's own switches. It is fetched there only.

import { toast } from "./feedback.js";

const root = document.documentElement;

document.addEventListener("change", ({ target }) => {
  if (!target.closest("[data-design-switches]")) return;
  if (target.name === "theme") root.dataset.theme = target.value;
  if (target.name === "accent") root.dataset.accent = target.value;
  if (target.name === "direction") root.dir = target.value;
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-design-open], [data-design-toast]");
  if (button?.dataset.designOpen) document.getElementById(button.dataset.designOpen).showModal();
  if (button?.dataset.designToast) toast(button.dataset.designToast, { words: "Undo", run: async () => {} });
});
