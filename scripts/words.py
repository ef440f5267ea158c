"""Takes the page's words out of the sources, brings the catalogues up to date, and compiles them.

Three domains: `skales` is what the server and its templates say, `script` what runs in the browser, and `rooms` what
the rooms below the server say, which mark nothing; `room_words.py` finds it.

`scripts/words.py` changes the files; with `--check` it says what is stale or not translated, and changes nothing.
"""

import argparse
import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from room_words import find_messages

_ROOT = Path(__file__).parent.parent / "src" / "skales"
_LOCALE = _ROOT / "locale"
_TEMPLATES = {"trimmed": "true", "newstyle_gettext": "true", "encoding": "utf-8"}
_NO_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
_IGNORED = [("templates/design/**", "ignore"), ("ui/design.py", "ignore"), ("static/js/design.js", "ignore")]
# Of the domains that are marked: what is searched, how, and with which options.
_MARKED = {
    "skales": (
        [*_IGNORED, ("**.py", "python"), ("**.html", "jinja2")],
        {"**.html": {**_TEMPLATES, "extensions": "jinja2.ext.i18n"}},
    ),
    "script": ([*_IGNORED, ("static/js/**.js", "javascript")], {}),
}
# What each is compiled to.
_DOMAINS = {"skales": "LC_MESSAGES/skales.mo", "script": "script.json", "rooms": "rooms.json"}


def main() -> int:
    """Bring every catalogue up to date, or check that it is."""
    parser = argparse.ArgumentParser(description="Extract, update and compile the page's words.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail when something is stale or missing")
    check = parser.parse_args().check
    faults = [fault for domain in _DOMAINS for fault in _bring_up_to_date(domain, check=check)]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else 0


def _bring_up_to_date(domain: str, *, check: bool) -> Iterator[str]:
    template = _extract(domain)
    for folder in sorted(path for path in _LOCALE.iterdir() if path.is_dir()):
        source = folder / "LC_MESSAGES" / f"{domain}.po"
        catalogue = _read(source, folder.name)
        catalogue.update(template, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        yield from _faults(catalogue, source)
        compiled = folder / _DOMAINS[domain]
        for path, content in ((source, _dump_po(catalogue)), (compiled, _compile(domain, catalogue))):
            if path.is_file() and path.read_bytes() == content:
                continue
            if check:
                yield f"{path} is stale; run scripts/words.py"
            else:
                path.write_bytes(content)


def _extract(domain: str) -> Catalog:
    template = Catalog(project="Skales", charset="utf-8")
    if domain == "rooms":
        for said, place in find_messages(_ROOT):
            template.add(said, "", [(place, 0)])
        return template
    methods, options = _MARKED[domain]
    for name, _line, message, comments, context in extract_from_dir(_ROOT / "server", methods, options):
        # None would stand for no translation in either number, which a message without a plural cannot have.
        template.add(
            message,
            ("", "") if isinstance(message, tuple) else "",
            [(name, 0)],
            auto_comments=comments,
            context=context,
        )
    return template


def _read(path: Path, tag: str) -> Catalog:
    if not path.is_file():
        return Catalog(locale=tag, project="Skales", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=tag)


def _faults(catalogue: Catalog, path: Path) -> Iterator[str]:
    for message in _messages(catalogue):
        texts = message.string if isinstance(message.string, (list, tuple)) else [message.string]
        if not all(texts):
            yield f"{path}: not translated: {message.id!r}"
        for error in message.check(catalogue):
            yield f"{path}: {message.id!r}: {error}"


def _compile(domain: str, catalogue: Catalog) -> bytes:
    if _DOMAINS[domain].endswith(".mo"):
        return _dump_mo(catalogue)
    words = {
        "\0".join(message.id) if isinstance(message.id, (list, tuple)) else message.id: message.string
        for message in _messages(catalogue)
    }
    return (json.dumps(words, ensure_ascii=False, indent=0, sort_keys=True) + "\n").encode()


def _messages(catalogue: Catalog) -> Iterator[Message]:
    return (message for message in catalogue if message.id)


def _dump_po(catalogue: Catalog) -> bytes:
    content = io.BytesIO()
    write_po(content, catalogue, omit_header=False, sort_output=True, width=120, include_lineno=False)
    # The moment of writing would make every file stale at once.
    lines = content.getvalue().splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith((b'"POT-Creation-Date', b'"PO-Revision-Date')))


def _dump_mo(catalogue: Catalog) -> bytes:
    content = io.BytesIO()
    # As in the sources of the catalogues, the moment of writing would make every file stale at once.
    catalogue.creation_date = catalogue.revision_date = _NO_MOMENT
    write_mo(content, catalogue)
    return content.getvalue()


if __name__ == "__main__":
    sys.exit(main())
