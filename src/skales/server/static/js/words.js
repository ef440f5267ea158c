// The scripts' words in the person's language. The page brings the catalogue; English is the source text itself.

const catalogue = JSON.parse(document.getElementById("words")?.textContent || "{}");
const rules = new Intl.PluralRules(document.documentElement.lang || "en");
const FORMS = rules.resolvedOptions().pluralCategories;

// `%(name)s` in the message is filled in from the values.
export function _(message, values = {}) {
  return fill(catalogue[message] ?? message, values);
}

// The form that fits a number, which `%(num)d` stands for.
export function ngettext(singular, plural, num, values = {}) {
  const known = catalogue[`${singular}\u0000${plural}`];
  const forms = known ?? [singular, plural];
  const form = known ? FORMS.indexOf(rules.select(num)) : Number(num !== 1);
  return fill(forms[form] ?? forms.at(-1), { num, ...values });
}

function fill(text, values) {
  return text.replace(/%\((\w+)\)[sd]|%%/g, (found, name) => (name === undefined ? "%" : String(values[name])));
}
