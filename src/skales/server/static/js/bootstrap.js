// The first run works without this; it only saves typing and shows that something is under way.

document.addEventListener("click", (event) => {
  const filler = event.target.closest("[data-fill]");
  if (filler) document.getElementById(filler.dataset.fill).value = filler.dataset.value;
});

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (button?.dataset.busy) {
    button.textContent = button.dataset.busy;
    button.setAttribute("aria-busy", "true");
  }
});
