// Things an answer holds, shown by themselves: a page that a model wrote, a picture. A page runs only in a frame of
// nobody's origin, without network, and only after a person asked for it.

import { _ } from "./words.js";

const PAGE_ADDRESS = "/ui/preview/page";

// A frame of ours that may run scripts and nothing else. Its messages come to `hear`, and from nobody else.
export function makeFrame(address, title, hear) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("allow", "autoplay 'none'; camera 'none'; microphone 'none'; fullscreen 'none'");
  frame.title = title;
  frame.src = address;
  const listen = (event) => {
    if (!frame.isConnected) removeEventListener("message", listen);
    else if (event.source === frame.contentWindow && event.origin === "null" && event.data?.kind) hear(event.data);
  };
  addEventListener("message", listen);
  return frame;
}

// The frame's origin is nobody's, so no address can be named; the window is the one we made.
export function tellFrame(frame, told) {
  frame.contentWindow.postMessage(told, "*");
}

export function togglePreview(figure) {
  const shown = figure.querySelector(".page-preview");
  if (shown) {
    shown.remove();
    for (const button of figure.querySelectorAll(".reload, .enlarge")) button.remove();
  } else {
    const place = document.createElement("div");
    place.className = "page-preview";
    place.append(pageFrame(figure));
    figure.append(place);
    const toggle = figure.querySelector(".preview");
    toggle.after(smallButton("reload", _("Reload")), smallButton("enlarge", _("Open large")));
  }
  figure.classList.toggle("previewing", !shown);
  figure.querySelector(".preview").textContent = shown ? _("Preview") : _("Show the code");
}

export function reloadPreview(figure) {
  figure.querySelector(".page-preview").replaceChildren(pageFrame(figure));
}

export function enlargePreview(figure) {
  showLarge(_("Preview"), pageFrame(figure));
}

export function enlargePicture(picture) {
  const large = document.createElement("img");
  large.src = picture.src;
  large.alt = picture.alt;
  showLarge(picture.alt || _("Picture"), large);
}

function pageFrame(figure) {
  const source = figure.querySelector("code").textContent;
  let told = false;
  const frame = makeFrame(PAGE_ADDRESS, _("Preview of the page in this code"), ({ kind }) => {
    if (kind !== "ready" || told) return;
    told = true;
    tellFrame(frame, { kind: "show", source });
  });
  return frame;
}

function showLarge(title, content) {
  const dialog = document.createElement("dialog");
  dialog.className = "large-view";
  dialog.setAttribute("aria-label", title);
  const bar = document.createElement("div");
  bar.className = "large-bar";
  const words = document.createElement("p");
  words.textContent = title;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button small";
  close.textContent = _("Close");
  close.addEventListener("click", () => dialog.close());
  bar.append(words, close);
  dialog.append(bar, content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
}

export function smallButton(name, words) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = name;
  button.textContent = words;
  return button;
}
