// Runs before the first paint, and so is no module: the sidebar must not jump from wide to narrow.
try {
  if (localStorage.getItem("skales:rail") === "on") document.documentElement.dataset.rail = "on";
} catch {
  // Without storage the sidebar is wide.
}
