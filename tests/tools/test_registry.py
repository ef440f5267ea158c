import subprocess
import sys
from pathlib import Path

import pytest

from skales.app.wiring import build_app
from skales.core.errors import InputError, ToolError, ToolRefusedError
from skales.core.ports import CallScope, Toolbox
from skales.core.tool import Safety, ToolSpec
from skales.data.instance import InstanceLock
from skales.data.paths import DataDirectory
from skales.tools.conditions import Standing
from skales.tools.registry import BuiltinToolbox
from tests.conftest import CountingIds, FixedClock
from tests.tools.conftest import Call, Rules


def found(toolbox: BuiltinToolbox, name: str) -> ToolSpec:
    spec = toolbox.find(name)
    assert spec is not None
    return spec


def test_the_toolbox_is_what_the_agent_expects(toolbox: BuiltinToolbox) -> None:
    as_port: Toolbox = toolbox
    names = [spec.name for spec in as_port.specs()]
    assert "read_file" in names
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("create_folder", "create_directory"), ("list_files", "list_directory"), ("create_file", "write_file")],
)
def test_old_names_find_the_tool(toolbox: BuiltinToolbox, alias: str, name: str) -> None:
    assert found(toolbox, alias).name == name
    assert toolbox.is_enabled(alias)


def test_unknown_names_find_nothing(toolbox: BuiltinToolbox) -> None:
    assert toolbox.find("no_such_tool") is None
    assert not toolbox.is_enabled("no_such_tool")
    assert toolbox.find("") is None


@pytest.mark.anyio
async def test_running_an_unknown_tool_is_an_error(toolbox: BuiltinToolbox, scope: CallScope) -> None:
    spec = ToolSpec(name="gone", description="", parameters={}, category="core", safety=Safety.AUTO)
    with pytest.raises(ToolError, match="no tool 'gone'"):
        await toolbox.run(spec, {}, scope)


def test_an_approval_card_says_what_would_happen(toolbox: BuiltinToolbox) -> None:
    described = toolbox.describe(found(toolbox, "write_file"), {"path": "notes.txt", "content": "x" * 3000})
    assert described == "Write 2.9 KB to notes.txt"


def test_faulty_arguments_are_an_input_error(toolbox: BuiltinToolbox) -> None:
    with pytest.raises(InputError, match="did you mean 'path'"):
        toolbox.check_arguments(found(toolbox, "read_file"), {"file_path": "a.txt"})


@pytest.mark.anyio
async def test_faulty_arguments_that_nobody_checked_do_not_reach_the_tool(
    toolbox: BuiltinToolbox, scope: CallScope
) -> None:
    with pytest.raises(ToolError, match="'path' is missing"):
        await toolbox.run(found(toolbox, "read_file"), {}, scope)


@pytest.mark.anyio
async def test_a_path_is_refused_in_the_words_of_the_rule(call: Call, rules: Rules) -> None:
    with pytest.raises(ToolRefusedError, match="is outside the allowed folders"):
        await call("read_file", path="/etc/passwd")


@pytest.mark.anyio
async def test_every_path_of_a_list_is_judged(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("a", encoding="utf-8")
    with pytest.raises(ToolRefusedError):
        await call("create_archive", paths=["a.txt", "/etc/passwd"], archive="out.zip")
    assert not (workspace / "out.zip").exists()


@pytest.mark.anyio
async def test_a_path_left_out_means_the_workspace(call: Call, workspace: Path) -> None:
    (workspace / "a.txt").write_text("a", encoding="utf-8")
    assert "a.txt" in (await call("list_directory")).text


@pytest.mark.anyio
async def test_a_result_has_a_short_summary(call: Call, workspace: Path) -> None:
    name = "n" * 240
    (workspace / name).write_text("a", encoding="utf-8")
    result = await call("delete_file", path=name)
    assert len(result.summary) <= 200
    assert result.summary.endswith("…")


@pytest.mark.anyio
async def test_a_text_result_is_summed_up_by_its_first_line(call: Call) -> None:
    result = await call("create_directory", path="new")
    assert (result.text, result.summary) == ("Created the folder new", "Created the folder new")


def test_start_up_imports_no_tool() -> None:
    code = (
        "import sys; from skales.tools.registry import BuiltinToolbox; "
        "box = BuiltinToolbox(lambda scope: None, dict); assert box.specs(); assert box.is_enabled('read_file'); "
        "loaded = [name for name in sys.modules if name.startswith('skales.tools.')]; "
        "heavy = {'pypdf', 'openpyxl', 'docx', 'pptx', 'lxml', 'charset_normalizer', 'regex', 'send2trash', "
        "'anyio', 'httpx2', 'pydantic'} & set(sys.modules); "
        "assert not heavy, heavy; assert not [name for name in loaded if name.count('.') > 2], loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_a_tool_whose_need_nobody_knows_is_off_and_says_so(toolbox: BuiltinToolbox) -> None:
    bare = BuiltinToolbox(lambda _scope: pytest.fail("nothing runs"), dict)
    needy = {spec.name: spec.needs for spec in toolbox.specs() if spec.needs and not spec.addon}
    assert needy["obsidian_read"] == "vault"
    for name, need in needy.items():
        assert not bare.is_enabled(name)
        assert repr(need) in bare.why_off(name)
    assert bare.why_off("read_file") == ""
    assert bare.why_off("no_such_tool") == "There is no tool 'no_such_tool'"


def test_an_addon_that_is_off_goes_before_a_need(toolbox: BuiltinToolbox, rules: Rules) -> None:
    asked: list[str] = []

    def standing() -> Standing:
        asked.append("asked")
        return Standing("It is not there")

    box = BuiltinToolbox(lambda _scope: pytest.fail("nothing runs"), dict, {"search_engine": standing})
    assert box.why_off("search_web") == "It is not there"
    assert not box.is_enabled("web_search")
    assert asked


def test_every_need_of_a_tool_is_known_to_the_app(home: DataDirectory, toolbox: BuiltinToolbox) -> None:
    lock = InstanceLock(home)
    app = build_app(home, lock, FixedClock(), CountingIds())
    try:
        unknown = [spec.name for spec in toolbox.specs() if "which is not here" in app.toolbox.why_off(spec.name)]
        assert unknown == []
        assert app.toolbox.is_enabled("search_web")
        assert not app.toolbox.is_enabled("connector_request")
    finally:
        app.sessions.close()
