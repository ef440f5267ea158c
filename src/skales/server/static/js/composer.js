// The message field: grows, keeps drafts, sends, stops, completes commands.

import { fillField } from "./dom.js";
import { toast } from "./feedback.js";
import { postForm } from "./http.js";
import { startPalette } from "./palette.js";
import { showHelp } from "./shortcuts.js";

export function startComposer(transcript, live) {
  const form = document.getElementById("composer");
  const field = document.getElementById("message");
  const key = `skales:draft:${transcript.session || "new"}`;
  const palette = startPalette(field);
  let lastSent = "";
  let sending = false;

  field.value ||= localStorage.getItem(key) ?? "";
  grow(field);
  field.addEventListener("input", () => {
    grow(field);
    if (field.value) localStorage.setItem(key, field.value);
    else localStorage.removeItem(key);
  });

  field.addEventListener("keydown", (event) => {
    if (palette.takesKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "ArrowUp" && !field.value && lastSent) {
      event.preventDefault();
      fillField(field, lastSent);
    }
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value;
    if (!text.trim() || sending) return;
    if (text.trim() === "/help") {
      fillField(field, "");
      showHelp();
      return;
    }
    sending = true;
    fillField(field, "");
    try {
      const told = await postForm("/ui/chat/send", { text, session_id: transcript.session });
      lastSent = text;
      if (!transcript.root || told.go !== `/chat/${transcript.session}`) location.assign(told.go);
      else if (!live.source) live.connect(live.place);
    } catch (error) {
      if (!field.value) fillField(field, text);
      toast(error.message);
    } finally {
      sending = false;
    }
  });

  document.getElementById("stop").addEventListener("click", () => act(transcript, "stop"));
  document.addEventListener("click", (event) => {
    const example = event.target.closest("[data-example]");
    if (example) {
      fillField(field, example.dataset.example);
      field.focus();
    } else if (event.target.closest("[data-continue]")) {
      act(transcript, "resume");
    }
  });
  if (matchMedia("(hover: hover)").matches && !document.activeElement?.matches("input, textarea")) field.focus();
}

async function act(transcript, what) {
  try {
    await postForm(`/ui/chat/${encodeURIComponent(transcript.session)}/${what}`);
  } catch (error) {
    toast(error.message);
  }
}

// Browsers with `field-sizing` do this by themselves.
function grow(field) {
  if (CSS.supports("field-sizing", "content")) return;
  field.rows = Math.min(12, field.value.split("\n").length);
}
