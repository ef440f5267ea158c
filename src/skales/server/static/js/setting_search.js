// The search over all settings by keyboard: arrows walk the hits, Enter opens the first, Esc clears.

export function startSettingSearch() {
  const field = document.getElementById("setting-query");
  const hits = document.getElementById("setting-hits");
  if (!field || !hits) return;
  const links = () => [...hits.querySelectorAll("a.hit")];

  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && links().length) {
      event.preventDefault();
      links()[0].focus();
    } else if (event.key === "Enter" && links().length) {
      event.preventDefault();
      links()[0].click();
    } else if (event.key === "Escape" && field.value) {
      event.preventDefault();
      clear();
    }
  });

  hits.addEventListener("keydown", (event) => {
    const all = links();
    const at = all.indexOf(document.activeElement);
    if (at < 0 || !["ArrowDown", "ArrowUp", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") {
      clear();
      field.focus();
    } else (all[at + (event.key === "ArrowDown" ? 1 : -1)] ?? field).focus();
  });

  // A hit on this very page: the list gives way to the row.
  hits.addEventListener("click", (event) => {
    const link = event.target.closest("a.hit");
    if (!link || link.pathname !== location.pathname || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const place = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!place) return;
    event.preventDefault();
    clear();
    history.replaceState(null, "", link.hash);
    show(place);
  });

  function clear() {
    field.value = "";
    hits.replaceChildren();
  }
}

function show(place) {
  for (const found of document.querySelectorAll(".found-here")) found.classList.remove("found-here");
  place.classList.add("found-here");
  place.scrollIntoView({ block: "center" });
  const control = place.querySelector(":checked, input:not([type=hidden]), textarea, select, button, a");
  (place.matches("form") && control ? control : place).focus({ preventScroll: true });
}
