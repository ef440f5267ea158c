// Files that come by paste and by drop, and long text that is better a file.

import { fillField } from "./dom.js";
import { announce, toast } from "./feedback.js";
import { _ } from "./words.js";

const LONG_TEXT = 4000;

export function startIntake(field, attachments) {
  takePaste(field, attachments, startOffer(field, attachments));
  takeDrop(attachments);
}

function takePaste(field, attachments, offer) {
  field.addEventListener("paste", (event) => {
    const { clipboardData } = event;
    const files = [...clipboardData.files];
    const text = clipboardData.getData("text/plain");
    // Office programs put a picture of the copied cells beside the text; the text is meant.
    const isText = text.trim() && ["text/html", "text/rtf"].some((type) => clipboardData.types.includes(type));
    if (files.length && !isText) {
      event.preventDefault();
      attachments.add(files);
    } else if (text.length > LONG_TEXT) {
      offer(text.replaceAll("\r\n", "\n"));
    }
  });
}

// Long text stays text unless the person makes it a file.
function startOffer(field, attachments) {
  const note = document.getElementById("pasted");
  let pasted = "";
  const close = () => {
    note.hidden = true;
    pasted = "";
  };
  note.querySelector("[data-attach-pasted]").addEventListener("click", () => {
    const at = field.value.lastIndexOf(pasted);
    attachments.add([new File([pasted], _("Pasted text.txt"), { type: "text/plain" })]);
    if (at >= 0) fillField(field, field.value.slice(0, at) + field.value.slice(at + pasted.length));
    close();
    field.focus();
  });
  note.querySelector("[data-keep-pasted]").addEventListener("click", () => {
    close();
    field.focus();
  });
  field.addEventListener("input", () => {
    if (pasted && !field.value.includes(pasted)) close();
  });
  return (text) => {
    pasted = text;
    const words = _("%(count)s characters pasted.", { count: text.length.toLocaleString() });
    note.querySelector("span").textContent = words;
    note.hidden = false;
    announce(words);
  };
}

function takeDrop(attachments) {
  const chat = document.getElementById("chat");
  const zone = document.getElementById("drop-zone");
  const isInside = ({ target }) => target instanceof Node && chat.contains(target);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    // Without this the browser would leave the page for a file that is dropped beside the zone.
    event.preventDefault();
    event.dataTransfer.dropEffect = isInside(event) ? "copy" : "none";
    zone.hidden = !isInside(event);
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.hidden = true;
  });
  addEventListener("dragend", () => (zone.hidden = true));
  addEventListener("drop", (event) => {
    zone.hidden = true;
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (isInside(event)) attachments.add(filesOf(event.dataTransfer));
  });
}

function hasFiles({ dataTransfer }) {
  return Boolean(dataTransfer?.types.includes("Files"));
}

function filesOf(transfer) {
  const items = [...transfer.items].filter(({ kind }) => kind === "file");
  const folders = items.filter((item) => item.webkitGetAsEntry()?.isDirectory);
  if (folders.length) toast(_("Folders cannot be attached; name their path in the message instead."));
  return items.filter((item) => !folders.includes(item)).map((item) => item.getAsFile()).filter(Boolean);
}
