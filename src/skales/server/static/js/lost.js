// A conversation that can no longer be shown: deleted in another tab, or its file broke. Said calmly, with a way on.

import { postForm } from "./http.js";
import { toast } from "./feedback.js";
import { _ } from "./words.js";

export function showLost(live, error) {
  const { transcript } = live;
  const isGone = error.status === 404;
  const card = document.createElement("div");
  card.className = "callout outcome lost";
  card.role = "alert";
  const words = document.createElement("div");
  const said = document.createElement("p");
  const strong = document.createElement("strong");
  strong.textContent = isGone ? _("This conversation was deleted.") : _("This conversation cannot be shown.");
  said.append(strong);
  const more = document.createElement("p");
  more.textContent = isGone ? _("What you see is what this page still has of it.") : error.message;
  const row = document.createElement("p");
  row.className = "row";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = isGone ? _("Bring it back") : _("Try again");
  button.addEventListener("click", () => (isGone ? bringBack(live) : live.reload("")));
  const link = document.createElement("a");
  link.className = "button small quiet";
  link.href = "/chat";
  link.textContent = _("Begin a new chat");
  row.append(button, link);
  words.append(said, more, row);
  card.append(words);
  live.dropAnswer();
  live.dropOutcomes();
  live.setRunning(false);
  for (const waiting of transcript.root.querySelectorAll(".approval, .waiting")) waiting.remove();
  transcript.live.append(card);
  transcript.toEnd();
}

async function bringBack(live) {
  try {
    await postForm(`/ui/sessions/${encodeURIComponent(live.transcript.session)}/restore`);
  } catch (error) {
    toast(error.message);
    return;
  }
  live.reload("");
}
