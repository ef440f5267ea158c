// Fetches a file from our own server and hands it to the browser's downloads; errors are the server's words.

import { fetchAnswer } from "./http.js";

// How an entry of a ZIP file begins.
const ENTRY = [0x50, 0x4b, 0x03, 0x04];

// `onEntry(done, total)` counts the entries of a ZIP file as they come; the server says how many there will be.
export async function saveFile(address, { signal, onEntry } = {}) {
  const answer = await fetchAnswer(address, { signal });
  const blob = onEntry ? await readCounting(answer, onEntry) : await answer.blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = nameOf(answer.headers.get("content-disposition") ?? "");
  link.click();
  // The browser needs the address until it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function readCounting(answer, onEntry) {
  const total = Number(answer.headers.get("x-entries") ?? 0);
  const pieces = [];
  let done = 0;
  let matched = 0;
  for (const reader = answer.body.getReader(); ; ) {
    const { done: isOver, value } = await reader.read();
    if (isOver) break;
    for (const byte of value) {
      matched = byte === ENTRY[matched] ? matched + 1 : Number(byte === ENTRY[0]);
      if (matched === ENTRY.length) {
        done += 1;
        matched = 0;
      }
    }
    onEntry(Math.min(done, total), total);
    // A blob may live on the disk, an array may not.
    pieces.push(new Blob([value]));
  }
  return new Blob(pieces, { type: answer.headers.get("content-type") ?? "" });
}

function nameOf(disposition) {
  const encoded = /filename\*=UTF-8''([^;]+)/i.exec(disposition);
  return encoded ? decodeURIComponent(encoded[1]) : "skales-export";
}
