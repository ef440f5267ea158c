// Popover menus: where they open, and the keys inside them. Opening and closing is the browser's.

const GAP_PX = 4;
const EDGE_PX = 8;

// Several buttons may open the same menu; the one pressed last is meant.
let pressed = null;

export function startMenus() {
  document.addEventListener("click", ({ target }) => (pressed = target.closest?.("[popovertarget]") ?? pressed), { capture: true });
  // Toggle events do not bubble, but they can be caught on their way down.
  document.addEventListener("toggle", ({ target, newState }) => {
    if (!(target instanceof HTMLElement) || !target.matches(".menu[popover]")) return;
    const opener = openerOf(target);
    opener?.setAttribute("aria-expanded", String(newState === "open"));
    if (newState === "open") {
      place(target, opener);
      itemsOf(target)[0]?.focus();
    }
  }, true);

  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest?.(".menu[popover]");
    if (menu) press(menu, event);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("[role=menuitem]")) event.target.closest(".menu[popover]")?.hidePopover();
  });
  // A menu that hangs in the air while its button scrolls away is worse than none.
  addEventListener("scroll", ({ target }) => {
    for (const menu of document.querySelectorAll(".menu:popover-open")) {
      if (target.contains?.(openerOf(menu)) && !menu.contains(target)) menu.hidePopover();
    }
  }, { capture: true, passive: true });
}

function press(menu, event) {
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement);
  const next = {
    ArrowDown: items[(at + 1) % items.length],
    ArrowUp: items[(at - 1 + items.length) % items.length],
    Home: items[0],
    End: items.at(-1),
  }[event.key];
  if (next) {
    event.preventDefault();
    next.focus();
  } else if (event.key === "Tab") {
    menu.hidePopover();
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== " ") {
    const letter = event.key.toLowerCase();
    const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    after.find((item) => item.textContent.trim().toLowerCase().startsWith(letter))?.focus();
  }
}

function itemsOf(menu) {
  return [...menu.querySelectorAll("[role^=menuitem]:not(:disabled, [hidden])")];
}

function openerOf(menu) {
  const isMeant = pressed?.isConnected && pressed.getAttribute("popovertarget") === menu.id;
  return isMeant ? pressed : document.querySelector(`[popovertarget="${CSS.escape(menu.id)}"]`);
}

// Below the button, at its end; above it or moved in where the window ends.
function place(menu, opener) {
  if (!opener) return;
  const button = opener.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const rightToLeft = getComputedStyle(opener).direction === "rtl";
  const left = rightToLeft ? button.left : button.right - width;
  const below = button.bottom + GAP_PX;
  const fits = below + height <= innerHeight - EDGE_PX;
  menu.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - width - EDGE_PX))}px`;
  menu.style.top = `${fits ? below : Math.max(EDGE_PX, button.top - height - GAP_PX)}px`;
}
