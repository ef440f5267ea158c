// One file on its way to the server, with how far it is and a way to stop it; `fetch` cannot tell the first.

import { introduce, readTrouble, unreachable } from "./http.js";

// `grew` gets the share that arrived, from 0 to 1.
export function uploadFile(address, file, grew) {
  const aborting = new AbortController();
  const done = attempt(address, file, grew, aborting.signal).then(async (answer) => {
    if (answer.status !== 401) return read(answer);
    await introduce();
    return read(await attempt(address, file, grew, aborting.signal));
  });
  return { done, cancel: () => aborting.abort() };
}

function attempt(address, file, grew, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("accept", "application/json");
    request.upload.addEventListener("progress", ({ loaded, total }) => grew(total ? loaded / total : 0));
    request.addEventListener("load", () => resolve(new Response(request.response, { status: request.status })));
    request.addEventListener("error", () => reject(unreachable()));
    request.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    signal.addEventListener("abort", () => request.abort());
    const body = new FormData();
    body.append("file", file, file.name);
    request.send(body);
  });
}

async function read(answer) {
  if (!answer.ok) throw await readTrouble(answer);
  return answer.json();
}
