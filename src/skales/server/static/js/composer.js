// The message field: grows, keeps drafts, sends text and files, carries out commands, stops.

import { startAttachments } from "./attachments.js";
import { openDraft } from "./drafts.js";
import { fillField } from "./dom.js";
import { toast } from "./feedback.js";
import { postForm } from "./http.js";
import { startIntake } from "./intake.js";
import { startPalette } from "./palette.js";
import { startPicker } from "./picker.js";
import { showHelp } from "./shortcuts.js";
import { startTold } from "./told.js";
import { _ } from "./words.js";

const COMMAND = /^\/[a-z]/i;

export function startComposer(transcript, live) {
  const form = document.getElementById("composer");
  const field = document.getElementById("message");
  const draft = openDraft(transcript.session);
  const told = startTold((text) => {
    fillField(field, ` ${text}`);
    form.requestSubmit();
  });
  const palette = startPalette(field);
  let attachments = null;
  const picker = startPicker(transcript.session, draft, () => showBlindness());
  attachments = startAttachments(draft, () => showBlindness());
  startIntake(field, attachments);
  let lastSent = "";
  let sending = false;

  field.value ||= draft.content.text;
  grow(field);
  field.addEventListener("input", () => {
    grow(field);
    draft.keep({ text: field.value });
  });
  draft.whenSent(({ text, files }) => {
    if (field.value === text) fillField(field, "");
    else draft.keep({ text: field.value });
    attachments.forget(files);
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
    const files = attachments.ids;
    if ((!text.trim() && !files.length) || sending) return;
    if (attachments.isBusy) {
      toast(_("A file is still on its way. Send once it is here."));
      return;
    }
    sending = true;
    form.setAttribute("aria-busy", "true");
    told.close();
    try {
      const answer = await postForm("/ui/chat/send", {
        text,
        session_id: transcript.session,
        attachments: files.join(","),
        ...(transcript.session ? {} : picker.choice),
      });
      lastSent = text;
      finish(answer, text, files);
    } catch (error) {
      if (error.status === 400 && COMMAND.test(text)) told.show([error.message], text);
      else toast(error.message);
    } finally {
      sending = false;
      form.removeAttribute("aria-busy");
    }
  });

  // The server has it; only what was written since stays.
  function finish(answer, text, files) {
    palette.close();
    fillField(field, field.value.startsWith(text) ? field.value.slice(text.length) : field.value);
    if (answer.took) {
      attachments.forget(files);
      draft.keep({ choice: null });
    }
    if (answer.do && ACTS[answer.do]) ACTS[answer.do](answer);
    else if (answer.tell?.length) told.show(answer.tell);
    else if (!answer.took || !transcript.root || answer.go !== `/chat/${transcript.session}`) leadTo(answer.go);
    else if (!live.source) live.connect(live.place);
  }

  const ACTS = {
    help: showHelp,
    model: ({ query }) => picker.open(query),
    chosen: (choice) => {
      picker.take(choice);
      told.show([_("%(model)s answers from the next message on", { model: choice.label })]);
    },
    search: ({ query, go }) => search(query, go),
    export: ({ go }) => exportHere(go),
  };

  function showBlindness() {
    const note = document.getElementById("blind");
    const isBlind = Boolean(attachments?.hasPictures && !picker.sees);
    if (isBlind) note.textContent = _("%(model)s cannot see pictures; it will be told their names.", { model: picker.label });
    note.hidden = !isBlind;
  }

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

function leadTo(address) {
  const target = new URL(address, location.href);
  // An address that differs in its fragment only would not load anything.
  const isHere = target.pathname === location.pathname && target.search === location.search;
  location.assign(target);
  if (isHere && !target.hash) location.reload();
}

function search(query, go) {
  const field = document.getElementById("session-query");
  if (!field?.checkVisibility({ visibilityProperty: true })) {
    leadTo(go);
    return;
  }
  fillField(field, query);
  field.focus();
}

// The page's own dialog of formats where there is one.
function exportHere(go) {
  const opener = document.querySelector("[data-export]");
  if (opener) opener.click();
  else leadTo(go);
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
