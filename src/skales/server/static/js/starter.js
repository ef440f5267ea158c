// Fetching the starter model from its button, with progress.

import { announce, toast } from "./feedback.js";
import { drawGauge } from "./gauge.js";
import { readEvents } from "./events.js";
import { _ } from "./words.js";

export function startStarter() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-fetch-starter]");
    if (button) fetchStarter(button);
  });
}

async function fetchStarter(button) {
  const gauge = button.closest("[data-starter]").querySelector(".gauge");
  button.disabled = true;
  gauge.hidden = false;
  try {
    for await (const { name, data } of readEvents("/ui/local/fetch")) {
      if (name === "progress") drawGauge(gauge, data);
      if (name === "failed") throw new Error(data.text);
    }
    announce(_("The starter model is ready"));
    location.reload();
  } catch (error) {
    gauge.hidden = true;
    button.disabled = false;
    toast(error.message);
  }
}
