// What a command answers, above the message field. It is heard at once and stays until it is closed or something is sent.

export function startTold(sendAsText) {
  const box = document.getElementById("told");
  const lines = box.querySelector(".lines");
  const asText = box.querySelector("[data-as-text]");
  let refused = "";

  function close() {
    box.hidden = true;
    lines.replaceChildren();
  }

  // `text` is what was written when it may be sent as text after all.
  function show(words, text = "") {
    refused = text;
    asText.hidden = !text;
    box.hidden = false;
    lines.replaceChildren(
      ...words.map((line) => {
        const paragraph = document.createElement("p");
        paragraph.textContent = line;
        return paragraph;
      }),
    );
  }

  asText.addEventListener("click", () => {
    close();
    sendAsText(refused);
  });
  box.querySelector("[data-untold]").addEventListener("click", () => {
    close();
    document.getElementById("message").focus();
  });
  return { show, close };
}
