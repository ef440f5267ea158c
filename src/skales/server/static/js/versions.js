// ‹ 2/3 › at a message: shows what stood there before an edit or a new answer.

import { announce, toast } from "./feedback.js";
import { postForm } from "./http.js";
import { refuse } from "./messages.js";
import { _ } from "./words.js";

export function startVersions(transcript, live) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-version]");
    if (button && !refuse(button)) show(transcript, live, button);
  });
  document.addEventListener("keydown", (event) => {
    const group = event.target.closest?.("[data-versions]");
    const step = { ArrowLeft: 0, ArrowRight: 1 }[event.key];
    if (!group || step === undefined) return;
    event.preventDefault();
    const button = group.querySelectorAll("[data-version]")[step];
    button.focus();
    if (!refuse(button)) show(transcript, live, button);
  });
}

async function show(transcript, live, button) {
  const group = button.closest("[data-versions]");
  const { versions: at, count, current } = group.dataset;
  const number = Number(button.dataset.version);
  const message = group.closest(".message") ?? group;
  const side = number < Number(current) ? "first-of-type" : "last-of-type";
  // The same place of the page, with the keyboard on the same button.
  const anchor = document.getElementById(`m-${at}`) ?? message;
  if (anchor.id) {
    const focus = `[data-versions="${at}"] [data-version]:${side}`;
    transcript.anchor = { id: anchor.id, top: anchor.getBoundingClientRect().top, focus };
  }
  try {
    await postForm(`/ui/chat/${encodeURIComponent(transcript.session)}/messages/${at}/version`, { number });
  } catch (error) {
    transcript.anchor = null;
    toast(error.message);
    return;
  }
  if (!live.source) live.connect(live.place);
  announce(_("Version %(number)s of %(count)s", { number: number + 1, count }));
}
