// Inside the frame of a diagram, after Mermaid. Takes a source from the window around it, tells back its size or what
// is wrong with it. Nothing of the diagram leaves this frame.

(() => {
  const ours = location.origin;
  const place = document.getElementById("place");
  let drawn = 0;

  const tell = (told) => parent.postMessage(told, ours);

  async function draw({ source, dark }) {
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: dark ? "dark" : "neutral",
      fontFamily: "system-ui, sans-serif",
      maxTextSize: 50000,
      maxEdges: 500,
      dompurifyConfig: { FORBID_TAGS: ["a", "audio", "embed", "iframe", "image", "img", "object", "video"] },
      // What a diagram may not change about itself.
      secure: ["secure", "securityLevel", "startOnLoad", "suppressErrorRendering", "maxTextSize", "maxEdges",
        "dompurifyConfig", "fontFamily", "themeCSS"],
    });
    drawn += 1;
    try {
      const { svg } = await mermaid.render(`diagram-${drawn}`, source);
      place.innerHTML = svg;
    } catch (error) {
      tell({ kind: "failed", reason: String(error?.message ?? error).slice(0, 1000) });
      return;
    }
    for (const link of place.querySelectorAll("a")) {
      link.removeAttribute("href");
      link.removeAttributeNS("http://www.w3.org/1999/xlink", "href");
    }
    measure();
  }

  function measure() {
    const drawing = place.querySelector("svg");
    if (!drawing) return;
    const box = drawing.getBoundingClientRect();
    tell({ kind: "drawn", height: Math.ceil(box.height) });
  }

  addEventListener("message", (event) => {
    const told = event.data;
    if (event.source !== parent || event.origin !== ours) return;
    if (told?.kind === "draw" && typeof told.source === "string") draw(told);
  });
  addEventListener("resize", measure);
  tell({ kind: "ready" });
})();
