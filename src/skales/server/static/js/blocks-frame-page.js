// Inside the frame of a previewed page. Takes the page's text once, from the window around it, and becomes that page.
// The document keeps the rules it was served with: no network, no frames, no forms.

(() => {
  const ours = location.origin;
  // Browsers that do not know `Connection-Allowlist` would let these reach out past the content policy.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport"]) delete window[name];

  addEventListener("message", function take(event) {
    const told = event.data;
    if (event.source !== parent || event.origin !== ours || told?.kind !== "show" || typeof told.source !== "string") return;
    removeEventListener("message", take);
    document.open();
    document.write(told.source);
    document.close();
  });
  parent.postMessage({ kind: "ready" }, ours);
})();
