// The sidebar's conversations: rename in a dialog, delete with a way back. The list itself is htmx's.

import { tellPage } from "./dom.js";
import { fillToast, toast } from "./feedback.js";
import { postForm, remove } from "./http.js";

const CHANGED = "skales:sessions";

export function startSessions() {
  const dialog = document.getElementById("rename-dialog");
  const form = dialog.querySelector("form");
  const field = form.elements.title;
  let renaming = "";

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-rename], [data-delete], [data-close]");
    if (!button) return;
    if (button.dataset.rename) {
      renaming = button.dataset.rename;
      field.value = button.dataset.title;
      dialog.showModal();
      field.select();
    } else if (button.dataset.delete) {
      removeSession(button.dataset.delete, "current" in button.dataset);
    } else {
      button.closest("dialog").close();
    }
  });

  form.addEventListener("submit", async () => {
    try {
      const { title } = await postForm(`/ui/sessions/${encodeURIComponent(renaming)}/title`, { title: field.value });
      showTitle(renaming, title);
      tellPage(CHANGED);
    } catch (error) {
      toast(error.message);
    }
  });

  for (const box of document.querySelectorAll("[data-undo]")) {
    fillToast(box, "Conversation deleted", undo(box.dataset.undo));
  }
}

async function removeSession(id, isCurrent) {
  try {
    await remove(`/ui/sessions/${encodeURIComponent(id)}`);
  } catch (error) {
    toast(error.message);
    return;
  }
  if (isCurrent) {
    location.assign(`/chat?deleted=${encodeURIComponent(id)}`);
  } else {
    tellPage(CHANGED);
    toast("Conversation deleted", undo(id));
  }
}

function undo(id) {
  return {
    words: "Undo",
    run: async () => {
      await postForm(`/ui/sessions/${encodeURIComponent(id)}/restore`);
      tellPage(CHANGED);
    },
  };
}

// The page's own title, when the renamed conversation is the one on it.
export function showTitle(id, title) {
  const chat = document.getElementById("chat");
  if (!chat || chat.dataset.session !== id || !title) return;
  document.getElementById("session-title").textContent = title;
  document.title = `${title} · Skales`;
  document.querySelector(".bar [data-rename]").dataset.title = title;
}
