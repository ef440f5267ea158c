// Files for the message: chosen, pasted or dropped, uploaded at once, shown as cards until the message is sent.

import { parseHtml } from "./dom.js";
import { announce, toast } from "./feedback.js";
import { fetchHtml, remove } from "./http.js";
import { uploadFile } from "./uploads.js";
import { _, ngettext } from "./words.js";

const ADDRESS = "/ui/attachments";
const MOST_FILES = 20;
const MOST_MB = 50;

// `changed` is called whenever the files are others than before.
export function startAttachments(draft, changed) {
  const attachments = new Attachments(draft, changed);
  // Its first news must find whoever started it ready.
  queueMicrotask(() => attachments.restore());
  return attachments;
}

class Attachments {
  constructor(draft, changed) {
    this.draft = draft;
    this.changed = changed;
    this.list = document.getElementById("attachments");
    this.uploads = new Map();
    this.line = Promise.resolve();
    const input = document.getElementById("files");
    document.getElementById("attach").addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      this.add([...input.files]);
      input.value = "";
    });
    this.list.addEventListener("click", (event) => {
      const card = event.target.closest("[data-detach]")?.closest(".attachment");
      if (card) this.#detach(card);
    });
  }

  get ids() {
    return [...this.list.querySelectorAll("[data-id]")].map((card) => card.dataset.id);
  }

  get hasPictures() {
    return this.list.querySelector("[data-kind=picture]") !== null;
  }

  get isBusy() {
    return this.uploads.size > 0;
  }

  add(files) {
    const room = MOST_FILES - this.list.children.length;
    if (files.length > room) toast(_("At most %(count)s files go with one message.", { count: MOST_FILES }));
    for (const file of files.slice(0, Math.max(room, 0))) {
      if (file.size > MOST_MB * 1024 * 1024) {
        toast(_("%(name)s is larger than %(size)s MB.", { name: file.name, size: MOST_MB }));
        continue;
      }
      const card = makeCard(file.name);
      this.list.append(card);
      this.uploads.set(card, null);
      // One after the other: each is whole as early as it can be.
      this.line = this.line.then(() => this.#upload(card, file));
    }
    this.#show();
  }

  async restore() {
    const wanted = this.draft.content.files;
    if (!wanted.length) return;
    try {
      this.list.prepend(parseHtml(await fetchHtml(`${ADDRESS}?id=${wanted.map(encodeURIComponent).join(",")}`)));
    } catch (error) {
      toast(error.message);
      return;
    }
    const gone = wanted.length - this.ids.length;
    if (gone > 0) toast(ngettext("%(num)d file of this draft is not here any more.", "%(num)d files of this draft are not here any more.", gone));
    this.#keep();
  }

  // The message with these files was sent, here or in another tab.
  forget(ids) {
    for (const card of this.list.querySelectorAll("[data-id]")) {
      if (ids.includes(card.dataset.id)) card.remove();
    }
    this.#keep();
  }

  async #upload(card, file) {
    if (!this.uploads.has(card)) return;
    const upload = uploadFile(ADDRESS, file, (share) => {
      card.querySelector("progress").value = share;
    });
    this.uploads.set(card, upload);
    try {
      const { html } = await upload.done;
      const fresh = parseHtml(html).firstElementChild;
      const focused = card.contains(document.activeElement);
      card.replaceWith(fresh);
      if (focused) fresh.querySelector("[data-detach]").focus();
      announce(_("Attached %(name)s", { name: fresh.dataset.name }));
    } catch (error) {
      card.remove();
      if (error.name !== "AbortError") toast(error.message);
    } finally {
      this.uploads.delete(card);
      this.#keep();
    }
  }

  async #detach(card) {
    const next = (card.nextElementSibling ?? card.previousElementSibling)?.querySelector("[data-detach]");
    (next ?? document.getElementById("message")).focus();
    const upload = this.uploads.get(card);
    this.uploads.delete(card);
    upload?.cancel();
    card.remove();
    announce(_("Removed %(name)s", { name: card.dataset.name }));
    this.#keep();
    // One that is gone already is what was wanted.
    if (card.dataset.id) await remove(`${ADDRESS}/${encodeURIComponent(card.dataset.id)}`).catch(() => {});
  }

  #keep() {
    this.draft.keep({ files: this.ids });
    this.#show();
  }

  #show() {
    this.list.hidden = !this.list.children.length;
    this.changed();
  }
}

function makeCard(name) {
  const card = document.createElement("li");
  card.className = "attachment";
  card.dataset.name = name;
  card.setAttribute("aria-busy", "true");
  const words = document.createElement("span");
  words.className = "words";
  const label = document.createElement("bdi");
  label.className = "name";
  label.textContent = name;
  const bar = document.createElement("progress");
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", _("Uploading %(name)s", { name }));
  words.append(label, bar);
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.className = "button quiet small";
  cancel.dataset.detach = "";
  cancel.textContent = _("Cancel");
  cancel.setAttribute("aria-label", _("Cancel %(name)s", { name }));
  card.append(words, cancel);
  return card;
}
