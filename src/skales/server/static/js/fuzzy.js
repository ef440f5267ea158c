// Ranks entries by how well typed letters fit: a word's beginning counts more than its middle, the label more than
// other words. Letters may be left out, accents and case do not count.

const AT_START = 60;
const AT_WORD = 40;
const INSIDE = 20;
const IN_DESCRIPTION = 10;
const LOOSE = 8;

export function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("ß", "ss");
}

// The entries that fit every typed word, best first; without a query all of them in their order.
export function rank(entries, query) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (!words.length) return entries;
  return entries
    .map((entry, order) => ({ entry, order, score: total(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.order - b.order)
    .map(({ entry }) => entry);
}

function total(entry, words) {
  let sum = 0;
  for (const word of words) {
    const best = Math.max(fit(fold(entry.label), word), fitBeginning(fold(entry.words ?? ""), word));
    if (best <= 0) return 0;
    sum += best;
  }
  return sum;
}

function fit(text, word) {
  return fitWhole(text, word) || fitLoosely(text, word);
}

function fitWhole(text, word) {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  const place = at === 0 ? AT_START : beginsWord(text, word) ? AT_WORD : INSIDE;
  return place + word.length / text.length;
}

// Inside a word of a description almost anything is found.
function fitBeginning(text, word) {
  return beginsWord(text, word) ? IN_DESCRIPTION : 0;
}

function beginsWord(text, word) {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escape(word)}`, "u").test(text);
}

// Letters in their order with gaps, the first at the beginning of a word; fewer gaps are better.
function fitLoosely(text, word) {
  if (word.length < 2) return 0;
  let at = text.search(new RegExp(`(?<![\\p{L}\\p{N}])${escape(word[0])}`, "u"));
  if (at < 0) return 0;
  let gaps = 0;
  for (const letter of word.slice(1)) {
    const next = text.indexOf(letter, at + 1);
    if (next < 0) return 0;
    if (next > at + 1) gaps += 1;
    at = next;
  }
  return Math.max(LOOSE - gaps, 1);
}

function escape(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
