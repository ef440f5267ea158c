// Copy buttons: a code block, a whole answer as the model wrote it, a path.

import { announce, toast } from "./feedback.js";
import { fetchText } from "./http.js";

const SHOWN_MS = 1600;

export function startCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".code .copy, [data-copy], [data-copy-answer]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(await textOf(button));
    } catch (error) {
      toast(error instanceof DOMException ? "The browser does not allow copying here." : error.message);
      return;
    }
    announce("Copied");
    confirm(button);
  });
}

function textOf(button) {
  if (button.dataset.copy) return button.dataset.copy;
  const code = button.closest(".code")?.querySelector("code");
  if (code) return code.textContent;
  const session = document.getElementById("chat").dataset.session;
  const index = button.closest(".message").id.slice(2);
  return fetchText(`/ui/chat/${encodeURIComponent(session)}/messages/${index}`);
}

function confirm(button) {
  if (button.querySelector("svg")) {
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), SHOWN_MS);
  } else {
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, SHOWN_MS);
  }
}
