// A bar with words, for what takes long. Built once, then only its numbers change.

export function drawGauge(place, { label, done, total, words }) {
  if (!place.firstChild) {
    const row = document.createElement("div");
    row.className = "row";
    row.append(document.createElement("span"), document.createElement("span"));
    place.append(row, document.createElement("progress"));
  }
  const [title, numbers] = place.querySelectorAll("span");
  const bar = place.querySelector("progress");
  title.textContent = label;
  numbers.textContent = words;
  bar.setAttribute("aria-label", label);
  if (total) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value");
  }
}
