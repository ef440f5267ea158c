// What is written and not sent yet, per conversation: text, files, and who shall answer a new chat. It is forgotten only
// when the server took it, and what one tab sent does not come back in another.

const EMPTY = { text: "", files: [], choice: null };

export function openDraft(session) {
  return new Draft(`skales:draft:${session || "new"}`);
}

class Draft {
  constructor(key) {
    this.key = key;
    this.content = { ...EMPTY, ...read(localStorage.getItem(key)) };
  }

  keep(changes) {
    Object.assign(this.content, changes);
    const { text, files, choice } = this.content;
    try {
      if (text || files.length || choice) localStorage.setItem(this.key, JSON.stringify(this.content));
      else localStorage.removeItem(this.key);
    } catch {
      // Full or switched off: the draft lives as long as the page.
    }
  }

  forget() {
    this.keep({ ...EMPTY });
  }

  // Calls with what another tab sent.
  whenSent(take) {
    addEventListener("storage", ({ key, oldValue, newValue }) => {
      if (key === this.key && newValue === null) take({ ...EMPTY, ...read(oldValue) });
    });
  }
}

// A draft of an earlier version is plain text.
function read(stored) {
  if (!stored) return {};
  try {
    const found = JSON.parse(stored);
    if (found && typeof found.text === "string" && Array.isArray(found.files)) return found;
  } catch {
    // Plain text.
  }
  return { text: stored };
}
