// What the palette can do on this page. Any control of a template joins by `data-command="What it does"`; it is
// offered while it can be used, and chosen by a click.

import { toast } from "./feedback.js";
import { postForm } from "./http.js";
import { toggleRail } from "./rail.js";
import { _ } from "./words.js";

const THEMES = ["light", "dark", "system"];

// `keys` as in the table of shortcuts.
export function listCommands() {
  const own = [
    { symbol: "plus", label: _("New chat"), words: "/new", run: () => location.assign("/chat") },
    { symbol: "sidebar", label: _("Collapse or expand the sidebar"), keys: "Mod+b", run: toggleRail },
    ...themeCommands(),
    { symbol: "bell", label: _("Show notifications"), keys: "n", run: () => document.getElementById("tray").showPopover() },
    {
      symbol: "keyboard",
      label: _("Show keys and commands"),
      words: _("shortcuts, help"),
      keys: "?",
      run: () => document.getElementById("help-dialog").showModal(),
    },
  ];
  return [...pageCommands(), ...own].map((command) => ({ group: "command", ...command }));
}

function pageCommands() {
  return [...document.querySelectorAll("[data-command]")]
    .filter((control) => !control.disabled && !control.closest("[hidden]"))
    .map((control) => ({
      symbol: control.dataset.commandSymbol ?? "run",
      label: control.dataset.command,
      run: () => control.click(),
    }));
}

function themeCommands() {
  const labels = { light: _("Use the light theme"), dark: _("Use the dark theme"), system: _("Use the system's theme") };
  const now = document.documentElement.dataset.theme;
  return THEMES.filter((theme) => theme !== now).map((theme) => ({
    symbol: theme,
    label: labels[theme],
    words: _("appearance, dark mode"),
    run: () => useTheme(theme),
  }));
}

async function useTheme(theme) {
  const before = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = theme;
  try {
    await postForm("/ui/commands/theme", { theme });
  } catch (error) {
    document.documentElement.dataset.theme = before;
    toast(error.message);
  }
}
