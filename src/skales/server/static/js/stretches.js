// Which part of a conversation is on the page. More comes on the way up and down, what is far away goes, so that the
// page stays light however long the conversation is.

import { parseHtml } from "./dom.js";
import { fetchHtml } from "./http.js";
import { _ } from "./words.js";

const NEAR = "900px 0px";
// Entries: so many may be on the page, and so many stay when there are more.
const MOST = 260;
const KEPT = 160;

export class Stretches {
  constructor(transcript) {
    this.transcript = transcript;
    this.seen = new IntersectionObserver((entries) => this.#reach(entries), { root: transcript.scroll, rootMargin: NEAR });
    transcript.scroll.addEventListener("click", (event) => {
      const marker = event.target.closest("[data-older], [data-newer]");
      if (marker && event.target.closest("button")) this.#load(marker);
    });
  }

  // Whether the end of the conversation is not on the page.
  get isDetached() {
    return Boolean(this.transcript.saved?.querySelector(":scope > [data-newer]"));
  }

  watch() {
    this.seen.disconnect();
    for (const marker of this.transcript.saved.querySelectorAll(":scope > :is([data-older], [data-newer])")) this.seen.observe(marker);
  }

  // Lets go of what stands far above the end.
  dropAbove() {
    const entries = [...this.transcript.saved.children];
    const first = entries.length > MOST && entries.slice(-KEPT).find((entry) => entry.matches(".message[id]"));
    if (!first) return;
    this.#keepingPlace(() => {
      for (const entry of entries.slice(0, entries.indexOf(first))) entry.remove();
      first.before(makeMarker("older", first.id.slice(2)));
    });
    this.watch();
  }

  #dropBelow() {
    const entries = [...this.transcript.saved.children];
    const first = entries.length > MOST && entries.slice(KEPT).find((entry) => entry.matches(".message[id]"));
    // A question that waits must not vanish while somebody answers it.
    if (!first || this.transcript.saved.querySelector(".approval")) return;
    for (const entry of entries.slice(entries.indexOf(first) + 1)) entry.remove();
    first.replaceWith(makeMarker("newer", first.id.slice(2)));
  }

  #reach(entries) {
    const entry = entries.find((candidate) => candidate.isIntersecting);
    if (entry) this.#load(entry.target);
  }

  async #load(marker) {
    if (marker.dataset.loading) return;
    marker.dataset.loading = "true";
    marker.querySelector("button").textContent = _("Loading …");
    const { older, newer } = marker.dataset;
    const address = `/ui/chat/${encodeURIComponent(this.transcript.session)}/`;
    try {
      const html = await fetchHtml(older ? `${address}older?before=${older}` : `${address}newer?start=${newer}`);
      if (!marker.isConnected) return;
      if (older) this.#showOlder(marker, parseHtml(html));
      else this.#showNewer(marker, parseHtml(html));
      this.watch();
    } catch (error) {
      delete marker.dataset.loading;
      this.seen.unobserve(marker);
      marker.querySelector("button").textContent = _("%(trouble)s Try again", { trouble: error.message });
    }
  }

  #showOlder(marker, entries) {
    for (const later of entries.querySelectorAll("[data-newer], [data-arrived]")) later.remove();
    this.#keepingPlace(() => marker.replaceWith(entries));
    this.#dropBelow();
  }

  #showNewer(marker, entries) {
    const arrived = entries.querySelector("[data-arrived]");
    arrived?.remove();
    marker.replaceWith(entries);
    if (arrived) {
      this.transcript.live.replaceChildren();
      this.transcript.arrive(arrived.dataset.arrived);
    }
    this.dropAbove();
  }

  // What is read stays where it is when something above it changes: its distance to the end does not.
  #keepingPlace(change) {
    const { scroll } = this.transcript;
    const fromEnd = scroll.scrollHeight - scroll.scrollTop;
    change();
    scroll.scrollTop = scroll.scrollHeight - fromEnd;
    this.transcript.height = scroll.scrollHeight;
    this.transcript.top = scroll.scrollTop;
  }
}

function makeMarker(side, index) {
  const marker = document.createElement("p");
  marker.className = "older";
  marker.dataset[side] = index;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button quiet small";
  button.textContent = side === "older" ? _("Earlier messages") : _("Later messages");
  marker.append(button);
  return marker;
}
