// The settings pages: looks show at once, a change carries what the page shows now, the focus stays, undo is at hand.
// Saving is htmx's.

import { toast } from "./feedback.js";
import { startSettingSearch } from "./setting_search.js";
import { _ } from "./words.js";

const MODE = "skales-settings-mode";

export function startSettings() {
  if (!document.querySelector(".settings")) return;
  startSaving();
  startModes();
  startSettingSearch();
  openNamedCard();
  addEventListener("hashchange", openNamedCard);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-open-card]");
    const card = link && document.getElementById(link.dataset.openCard);
    if (!card) return;
    event.preventDefault();
    openCard(card);
  });
}

function startSaving() {
  const kept = new WeakMap();
  document.addEventListener("change", (event) => showLook(event.target.closest("form[data-look]")));
  // Changes wait for each other; by the time one goes out, an earlier one may have changed what the file says.
  document.addEventListener("htmx:before:request", ({ detail }) => {
    const { sourceElement, request } = detail.ctx;
    const form = sourceElement.closest("form.setting");
    const was = form?.querySelector("[name=was]");
    if (was && request.body instanceof URLSearchParams && request.body.has("was")) request.body.set("was", was.value);
    if ("busy" in sourceElement.dataset) sourceElement.setAttribute("aria-busy", "true");
  });
  document.addEventListener("htmx:finally:request", ({ detail }) => {
    detail.ctx.sourceElement.removeAttribute?.("aria-busy");
  });
  document.addEventListener("htmx:before:swap", ({ detail }) => {
    kept.set(detail.ctx, rememberFocus(detail.ctx));
  });
  document.addEventListener("htmx:after:swap", ({ detail }) => {
    restoreFocus(kept.get(detail.ctx));
    const target = detail.ctx.target;
    showLook(target?.closest?.("form[data-look]"));
    offerUndo(target?.isConnected ? target : document.querySelector(".settings"));
  });
}

// A theme or accent as its row says it.
function showLook(form) {
  const chosen = form?.querySelector("[name=value]:checked");
  if (chosen) document.documentElement.dataset[form.dataset.look] = chosen.value;
}

// Where the focus was: by id, or as one of several choices of the same form.
function rememberFocus({ target }) {
  const at = document.activeElement;
  if (!at || !target?.contains?.(at)) return null;
  const holder = at.closest("form[id], [id]");
  return { id: at.id, name: at.name, value: at.type === "radio" ? at.value : null, holder: holder?.id ?? "", target: target.id };
}

function restoreFocus(kept) {
  if (!kept || (document.activeElement && document.activeElement !== document.body)) return;
  const holder = document.getElementById(kept.target) ?? document.getElementById(kept.holder);
  const same = kept.id ? document.getElementById(kept.id) : null;
  const choice =
    kept.value === null
      ? null
      : [...(holder?.querySelectorAll(`[name="${kept.name}"]`) ?? [])].find((field) => field.value === kept.value);
  const found = [same, choice, ...(holder ? candidates(holder, same) : [])].find((field) => field && !field.disabled);
  found?.focus({ preventScroll: true });
}

// What can take the focus when the very element is gone: its neighbours first, then the row's control.
function candidates(holder, same) {
  const beside = same?.parentElement?.querySelectorAll("button:not([disabled])") ?? [];
  return [...beside, ...holder.querySelectorAll(":checked, input:not([type=hidden]), textarea, select, summary, button")];
}

// Said where it was done, and once more where it is heard; the way back is at both places.
function offerUndo(target) {
  const saved = target?.querySelector("[data-saved]");
  if (!saved || saved.dataset.told) return;
  saved.dataset.told = "true";
  const back = saved.querySelector("[data-put-back]");
  const run = () => back.isConnected && back.click();
  toast(saved.dataset.saved, back ? { words: _("Undo"), run } : null);
}

// Standard and Advanced are ways of looking: in the address, and remembered.
function startModes() {
  const page = document.getElementById("settings");
  if (!page) return;
  if (!("chosen" in page.dataset)) showMode(page, localStorage.getItem(MODE));
  else localStorage.setItem(MODE, page.dataset.mode);
  page.addEventListener("click", (event) => {
    const link = event.target.closest("[data-mode-link]");
    if (!link) return;
    event.preventDefault();
    showMode(page, link.dataset.modeLink);
    localStorage.setItem(MODE, link.dataset.modeLink);
    const address = new URL(location.href);
    address.searchParams.set("view", link.dataset.modeLink);
    address.searchParams.delete("former");
    history.replaceState(null, "", address);
  });
}

function showMode(page, mode) {
  if (mode !== "standard" && mode !== "advanced") return;
  page.dataset.mode = mode;
  for (const link of page.querySelectorAll(".modes a")) {
    if (link.dataset.modeLink === mode) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

// An address that names a card means the open card.
function openNamedCard() {
  const card = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
  if (card?.matches("details")) openCard(card);
  else card?.focus({ preventScroll: true });
}

function openCard(card) {
  card.open = true;
  card.scrollIntoView({ block: "start" });
  card.querySelector("summary").focus({ preventScroll: true });
}
