// How keys are called on this computer. "Mod" is Command on a Mac and Control elsewhere.

export const IS_MAC = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform ?? navigator.platform);

const NAMES = IS_MAC
  ? { Mod: "⌘", Shift: "⇧", Escape: "Esc", ArrowUp: "↑", Enter: "↵" }
  : { Mod: "Ctrl", Escape: "Esc", ArrowUp: "↑" };

// "Mod+k" as it is written for people: ⌘K, Ctrl K.
export function showKeys(keys) {
  const parts = keys.split("+").map((key) => NAMES[key] ?? key);
  const named = parts.length > 1 ? [...parts.slice(0, -1), parts.at(-1).toUpperCase()] : parts;
  return named.join(IS_MAC ? "" : " ");
}

// Whether a key event is this combination.
export function isPressed(event, keys) {
  const parts = keys.split("+");
  const wantsMod = parts.length > 1 && parts[0] === "Mod";
  const mod = IS_MAC ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  const key = parts.at(-1);
  if (wantsMod && event.shiftKey !== parts.includes("Shift")) return false;
  if (event.altKey || (wantsMod ? !mod : event.ctrlKey || event.metaKey)) return false;
  return event.key === key || (key.length === 1 && wantsMod && event.key.toLowerCase() === key);
}
