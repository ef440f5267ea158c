// Small things about elements that several modules need.

// The elements of server-made HTML. Only our own server's answers may come here.
export function parseHtml(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

export function isTyping() {
  const active = document.activeElement;
  return Boolean(active?.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]"));
}

// Writes into a field the way a person would, so that everything that listens notices.
export function fillField(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function tellPage(name) {
  document.body.dispatchEvent(new CustomEvent(name));
}
