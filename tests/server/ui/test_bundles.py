"""Joined scripts and sheets: what our files say must be in the few forms that are joined, and mean the same after."""

import re
from pathlib import Path

import pytest

import skales.server
from skales.server.ui.bundles import UnknownFormError, join_modules, read_module, strip_sheet

_SERVER = Path(skales.server.__file__).parent
_SCRIPTS = {path.name: path.read_text(encoding="utf-8") for path in (_SERVER / "static" / "js").glob("*.js")}
_SHEETS = {path.stem: path.read_text(encoding="utf-8") for path in (_SERVER / "static" / "css").glob("*.css")}
_TEMPLATES = {
    path.relative_to(_SERVER / "templates").as_posix(): path.read_text(encoding="utf-8")
    for path in (_SERVER / "templates").rglob("*.html")
}
_WORDS = "export function _(text) {\n  return text;\n}\n"


def test_our_modules_can_be_joined_and_each_is_in_one_script_alone() -> None:
    joined = join_modules(_SCRIPTS)
    for name, text in _SCRIPTS.items():
        if not (module := read_module(name, text)).exports:
            continue
        holders = [script for script, content in joined.items() if f"const {module.variable} = (" in content]
        assert len(holders) == 1, name


def test_what_a_module_takes_is_what_another_gives() -> None:
    modules = {name: read_module(name, text) for name, text in _SCRIPTS.items()}
    for module in modules.values():
        for file, names in module.imports:
            taken = {name.partition(":")[0] for name in names.split(", ")}
            assert taken <= set(modules[file].exports), f"{module.name} from {file}"


def test_the_first_page_does_without_what_is_rarely_wanted() -> None:
    main = join_modules(_SCRIPTS)["main.js"]
    for name in ("finder", "commands", "find", "downloads", "preview", "diagram", "settings", "compare", "playground"):
        assert f"const ${name} = (" not in main


def test_a_page_without_the_frame_takes_nothing_from_its_script() -> None:
    assert not read_module("bootstrap.js", _SCRIPTS["bootstrap.js"]).imports


def test_a_module_runs_after_all_it_needs_and_gives_what_it_exports() -> None:
    joined = join_modules(
        {
            "main.js": 'import { start } from "./page.js";\n\nstart();\n',
            "page.js": 'import { _ as say } from "./words.js";\n\n// Why.\nexport function start() {\n  say("x");\n}\n',
            "words.js": _WORDS,
        }
    )
    assert joined == {
        "main.js": "const $words = (() => {\nfunction _(text) {\nreturn text;\n}\nreturn { _ };\n})();\n"
        'const $page = (() => {\nconst { _: say } = $words;\nfunction start() {\nsay("x");\n}\n'
        "return { start };\n})();\n"
        "const $main = (() => {\nconst { start } = $page;\nstart();\nreturn {  };\n})();\n"
    }


def test_a_script_that_comes_later_takes_from_the_first_what_that_has() -> None:
    joined = join_modules(
        {
            "main.js": 'import { _ } from "./words.js";\nconst later = () => import("./late.js");\n',
            "late.js": 'import { _ } from "./words.js";\nexport const said = _("x");\n',
            "words.js": _WORDS,
        }
    )
    assert set(joined) == {"main.js", "late.js"}
    assert "export { $words };" in joined["main.js"]
    assert joined["late.js"].startswith('import { $words } from "./main.js";\n')
    assert joined["late.js"].endswith("export const { said } = $late;\n")


def test_what_two_late_scripts_need_is_in_a_script_of_its_own() -> None:
    late = 'import { _ } from "./words.js";\nexport const said = _("x");\n'
    main = 'const later = [() => import("./a.js"), () => import("./b.js")];\n'
    joined = join_modules({"main.js": main, "a.js": late, "b.js": late, "words.js": _WORDS})
    assert 'import { $words } from "./words.js";' in joined["a.js"]
    assert 'import { $words } from "./words.js";' in joined["b.js"]
    assert "export { $words };" in joined["words.js"]


def test_a_script_without_imports_and_exports_stays_a_plain_one() -> None:
    assert join_modules({"early.js": "// Why.\ntry {\n  go();\n} catch {\n}\n"}) == {
        "early.js": "try {\ngo();\n} catch {\n}\n"
    }


@pytest.mark.parametrize(
    "text",
    [
        'import words from "./words.js";',
        'import * as words from "./words.js";',
        'import "./words.js";',
        'import { _ } from "../words.js";',
        'import { _ } from "words";',
        'import {\n  _,\n} from "./words.js";',
        "export default function start() {}",
        "export let count = 0;",
        "export { count };",
        'export * from "./words.js";',
        "await start();",
        "for await (const piece of pieces) take(piece);",
        "const here = import.meta.url;",
        "const late = (name) => import(name);",
        "const text = `one\ntwo`;",
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(UnknownFormError):
        join_modules({"main.js": text + "\n", "words.js": _WORDS})


@pytest.mark.parametrize(
    "texts",
    [
        {
            "main.js": 'import { a } from "./a.js";',
            "a.js": 'import { b } from "./b.js";\nexport const a = 1;',
            "b.js": 'import { a } from "./a.js";\nexport const b = 1;',
        },
        {"main.js": 'import { a } from "./none.js";'},
        {
            "main.js": 'import { a } from "./a.js";\nconst later = () => import("./a.js");',
            "a.js": "export const a = 1;",
        },
    ],
    ids=["in a circle", "not there", "at once and later"],
)
def test_imports_that_cannot_be_joined_are_refused(texts: dict[str, str]) -> None:
    with pytest.raises(UnknownFormError):
        join_modules(texts)


def test_a_sheet_loses_its_comments_and_keeps_its_strings() -> None:
    sheet = '/* Why. */\n.a {\n  content: "/* kept */";\n\n  color: red; /* gone */\n}\n'
    assert strip_sheet(sheet) == '.a {\ncontent: "/* kept */";\ncolor: red;\n}\n'


def test_no_sheet_fetches_another() -> None:
    assert [name for name, text in _SHEETS.items() if "@import" in text or "@charset" in text] == []


def test_templates_name_sheets_and_scripts_that_exist_and_leave_the_links_to_the_frame() -> None:
    scripts = join_modules(_SCRIPTS)
    named = [
        (template, kind, name)
        for template, text in _TEMPLATES.items()
        for kind, names in re.findall(r"\{% set (sheets|scripts) = \(([^)]*)\) %\}", text)
        for name in re.findall(r'"([^"]*)"', names)
        if template != "layout.html"
    ]
    assert {kind for _template, kind, _name in named} == {"sheets", "scripts"}
    for template, kind, name in named:
        assert (name in _SHEETS) if kind == "sheets" else (f"{name}.js" in scripts), template
    for template, text in _TEMPLATES.items():
        if not template.endswith("layout.html"):
            assert not re.search(r"block sheets|rel=\"stylesheet\"|<script", text), template


def test_every_icon_is_drawn_somewhere() -> None:
    sprite = (_SERVER / "static" / "vendor" / "icons.svg").read_text(encoding="utf-8")
    there = re.findall(r'<symbol id="([^"]+)"', sprite)
    assert len(there) == len(set(there)) > 40
    sources = [*_TEMPLATES.values(), *_SCRIPTS.values()]
    sources += [path.read_text(encoding="utf-8") for path in _SERVER.rglob("*.py")]
    words = set(re.findall(r"[\"'#]([a-z0-9-]+)[\"']", "\n".join(sources)))
    assert set(there) - words == set()
