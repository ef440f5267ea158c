// The settings page: a theme shows at once. Saving is htmx's.

export function startSettings() {
  document.addEventListener("change", (event) => {
    if (event.target.closest("[data-theme-form]")) document.documentElement.dataset.theme = event.target.value;
  });
}
