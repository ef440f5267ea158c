"""Plain forms of verbs by rule from what tells of the past: `move` of `moved`, `ablegen` of `abgelegt`. Pure."""

from collections.abc import Container, Iterator

_IRREGULAR = {
    "sent": "send",
    "written": "write",
    "wrote": "write",
    "made": "make",
    "built": "build",
    "bought": "buy",
    "paid": "pay",
    "told": "tell",
    "put": "put",
    "set": "set",
    "run": "run",
    "ran": "run",
    "shut": "shut",
    "rang": "ring",
    "withdrawn": "withdraw",
    "overwritten": "overwrite",
    "brought": "bring",
}
_STRONG_INFINITIVES = {
    "verschoben": "verschieben",
    "geschrieben": "schreiben",
    "hochgeladen": "hochladen",
    "heruntergeladen": "herunterladen",
    "eingetragen": "eintragen",
    "versendet": "versenden",
    "gesendet": "senden",
    "umbenannt": "umbenennen",
    "angeschrieben": "anschreiben",
    "eingeladen": "einladen",
    "abgesagt": "absagen",
    "überwiesen": "überweisen",
    "verschlossen": "verschließen",
    "geschlossen": "schließen",
    "behoben": "beheben",
    "abgeschlossen": "abschließen",
}


def plain_forms(past: str) -> Iterator[str]:
    """`move` and `moving` of `moved`, `ship` and `shipping` of `shipped`; the irregular ones from a table."""
    stem = past.removesuffix("ed")
    bases = [_IRREGULAR[past]] if past in _IRREGULAR else [stem, f"{stem}e"] if stem != past else []
    if stem.endswith("i"):
        bases = [f"{stem[:-1]}y"]
    if len(stem) > 3 and stem[-1] == stem[-2]:
        bases.append(stem[:-1])
    for plain in bases:
        yield plain
        yield f"{plain.removesuffix('e')}ing"
    if stem != past:
        yield f"{stem}ing"
    if past in {"put", "set", "shut", "run", "ran"}:
        yield f"{_IRREGULAR.get(past, past)}{past[-1]}ing"


def infinitives(participle: str, prefixes: Container[str]) -> Iterator[str]:
    """`löschen` of `gelöscht`, `ablegen` of `abgelegt`, `reservieren` of `reserviert`."""
    if participle.endswith("t"):
        front, ge, stem = participle[:-1].partition("ge")
        is_parted = ge and (not front or front in prefixes)
        root = (front + stem if is_parted else participle[:-1]).removesuffix("e")
        yield root + ("n" if root.endswith(("er", "el")) and not root.endswith("ier") else "en")
    elif participle in _STRONG_INFINITIVES:
        yield _STRONG_INFINITIVES[participle]
