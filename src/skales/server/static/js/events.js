// Server-sent events as the answer to a POST, which the browser's EventSource cannot send.

import { Trouble } from "./http.js";

export async function* readEvents(address) {
  const answer = await fetch(address, { method: "POST", credentials: "same-origin" });
  if (!answer.ok) {
    const told = await answer.json().catch(() => ({}));
    throw new Trouble(told.error ?? `The server answered ${answer.status}`, told.hint, answer.status);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
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
}

function parseFrame(frame) {
  const fields = new Map(frame.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  return fields.has("data") ? { name: fields.get("event") ?? "message", data: JSON.parse(fields.get("data")) } : null;
}
