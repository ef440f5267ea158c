// Server-sent events over `fetch`: they may answer a POST, name any event, and tell why they cannot be had.

import { readTrouble, unreachable } from "./http.js";

// Yields `{ name, data, id }`. Ends when the server ends; throws Trouble when it refuses or cannot be reached.
export async function* readEvents(address, { method = "POST", signal = undefined, body = undefined } = {}) {
  let answer;
  try {
    answer = await fetch(address, { method, signal, body, credentials: "same-origin", headers: { accept: "text/event-stream" } });
  } catch (error) {
    throw signal?.aborted ? error : unreachable();
  }
  if (!answer.ok) throw await readTrouble(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const frames = (rest + value).split("\n\n");
      rest = frames.pop();
      for (const frame of frames) {
        const event = parseFrame(frame);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Our server writes each field on one line of its own; a comment has none that we know.
function parseFrame(frame) {
  const fields = {};
  for (const line of frame.split("\n")) {
    const colon = line.indexOf(":");
    fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (fields.data === undefined) return null;
  return { name: fields.event ?? "message", data: JSON.parse(fields.data), id: fields.id ?? "" };
}
