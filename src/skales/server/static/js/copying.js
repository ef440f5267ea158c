// Copy buttons: a code block, a table, a whole answer as the model wrote it, a path.

import { announce, toast } from "./feedback.js";
import { fetchText } from "./http.js";
import { _ } from "./words.js";

const SHOWN_MS = 1600;

export function startCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".code .copy, .copy-table, [data-copy], [data-copy-answer]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(await textOf(button));
    } catch (error) {
      toast(error instanceof DOMException ? _("The browser does not allow copying here.") : error.message);
      return;
    }
    announce(_("Copied"));
    confirm(button);
  });
}

function textOf(button) {
  if (button.dataset.copy) return button.dataset.copy;
  if (button.matches(".copy-table")) return tableText(button.closest(".table-box"), button.dataset.format);
  const code = button.closest(".code")?.querySelector("code");
  if (code) return code.textContent;
  const session = document.getElementById("chat").dataset.session;
  const index = button.closest(".message").id.slice(2);
  return fetchText(`/ui/chat/${encodeURIComponent(session)}/messages/${index}`);
}

function tableText(box, format) {
  const rows = [...box.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
  if (format === "csv") return rows.map((row) => `${row.map(quoteForCsv).join(",")}\r\n`).join("");
  const lines = rows.map((row) => `| ${row.map(escapeForMarkdown).join(" | ")} |`);
  lines.splice(1, 0, `|${" --- |".repeat(rows[0].length)}`);
  return `${lines.join("\n")}\n`;
}

// RFC 4180: a field with a comma, a quote or a break stands in quotes, and its quotes are doubled.
function quoteForCsv(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escapeForMarkdown(text) {
  return text.replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
}

function confirm(button) {
  if (button.querySelector("svg")) {
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), SHOWN_MS);
  } else if (!button.dataset.label) {
    button.dataset.label = button.textContent;
    button.textContent = _("Copied");
    setTimeout(() => {
      button.textContent = button.dataset.label;
      delete button.dataset.label;
    }, SHOWN_MS);
  }
}
