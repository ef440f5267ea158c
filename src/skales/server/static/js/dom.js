// Small things about elements that several modules need.

// The elements of server-made HTML. Only our own server's answers may come here.
export function parseHtml(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export function isInField() {
  return Boolean(document.activeElement?.matches("input:not([type=radio], [type=checkbox]), textarea, select"));
}

// A person types who has something in the field, or pressed a key a moment ago.
const PAUSE_MS = 1500;
let lastKey = -PAUSE_MS;
addEventListener("keydown", () => (lastKey = performance.now()), { capture: true, passive: true });

export function isTyping() {
  return isInField() && (document.activeElement.value !== "" || performance.now() - lastKey < PAUSE_MS);
}

// Writes into a field the way a person would, so that everything that listens notices.
export function fillField(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function tellPage(name) {
  document.body.dispatchEvent(new CustomEvent(name));
}
