// The sidebar as a drawer on narrow screens: out of reach while closed, the rest out of reach while open.

const NARROW = matchMedia("(max-width: 52rem)");

export function startDrawer() {
  const sidebar = document.getElementById("sidebar");
  const main = document.getElementById("main");
  const opener = document.querySelector("[data-drawer=open]");

  function set(open) {
    const asDrawer = NARROW.matches;
    document.body.classList.toggle("drawer-open", asDrawer && open);
    opener.setAttribute("aria-expanded", String(asDrawer && open));
    sidebar.inert = asDrawer && !open;
    main.inert = asDrawer && open;
  }

  document.addEventListener("click", (event) => {
    const wish = event.target.closest("[data-drawer]")?.dataset.drawer;
    if (!wish) return;
    set(wish === "open");
    if (wish === "open") sidebar.querySelector(".close-drawer").focus();
    else opener.focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("drawer-open")) {
      set(false);
      opener.focus();
    }
  });
  NARROW.addEventListener("change", () => set(false));
  set(false);
}
