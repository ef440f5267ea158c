"""Cases PTH-01: folder containment with links, missing files and text prefixes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from skales.core.errors import InputError
from skales.core.tool import Outcome, Verdict
from skales.security.paths import PathPolicy, decide_path, resolve_path
from tests.conftest import CASES

CASE: dict[str, Any] = json.loads((CASES / "paths" / "PTH-01-containment.json").read_text(encoding="utf-8"))

# Judged here; 11 to 13, 15 and 16 have tests of their own or belong to the tools that open files.
JUDGED = [request for request in CASE["requests"] if request["verdict"] in ("allow", "deny")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The layout of the case."""
    for name in CASE["layout"]["make"]:
        place = Path(name.replace("ROOT", str(tmp_path)))
        (place if name.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
        _ = name.endswith("/") or place.write_text("text", encoding="utf-8")
    for link, target in CASE["layout"]["links"].items():
        Path(link.replace("ROOT", str(tmp_path))).symlink_to(target.replace("ROOT", str(tmp_path)))
    return tmp_path


@pytest.fixture
def policy(root: Path) -> PathPolicy:
    return PathPolicy(workspace=root / "project")


def judge(text: str, policy: PathPolicy, *, follow_last: bool = True) -> Verdict:
    return decide_path(resolve_path(text, policy, follow_last=follow_last), policy)


@pytest.mark.parametrize("request_", JUDGED, ids=[str(request["n"]) for request in JUDGED])
def test_containment_cases(request_: dict[str, Any], root: Path, policy: PathPolicy) -> None:
    verdict = judge(request_["path"].replace("ROOT", str(root)), policy)
    assert verdict.outcome.value == request_["verdict"]


def test_a_link_loop_is_named_instead_of_followed(root: Path, policy: PathPolicy) -> None:
    with pytest.raises(InputError, match="circle"):
        resolve_path(f"{root}/project/loop", policy)
    with pytest.raises(InputError, match="circle"):
        resolve_path(f"{root}/project/loop/../to-outside/x", policy)


def test_a_link_itself_may_be_deleted_where_it_stands(root: Path, policy: PathPolicy) -> None:
    kept = resolve_path(f"{root}/project/to-outside", policy, follow_last=False)
    assert kept == root / "project" / "to-outside"
    assert decide_path(kept, policy).outcome is Outcome.ALLOW


def test_only_the_last_part_of_a_path_is_kept_as_a_link(root: Path, policy: PathPolicy) -> None:
    assert judge(f"{root}/project/to-outside/diary.txt", policy, follow_last=False).outcome is Outcome.DENY
    assert resolve_path(f"{root}/project/to-outside/..", policy, follow_last=False) == root
    assert resolve_path("/", policy, follow_last=False) == Path("/")


@pytest.mark.parametrize(
    "text", ["", "  ", "nul\0byte", "a/" * 3_000, "x" * 256, "ü" * 128, "\ud800", "sub/\udfff\ud800"]
)
def test_a_text_that_names_no_file_is_an_input_error(text: str, policy: PathPolicy) -> None:
    with pytest.raises(InputError):
        resolve_path(text, policy)


def test_a_path_too_long_only_with_its_folder_is_an_input_error(root: Path, policy: PathPolicy) -> None:
    with pytest.raises(InputError, match="too long"):
        resolve_path("y" * 200 + ("/" + "y" * 200) * 19, structs.replace(policy, workspace=root / ("x" * 200)))


def test_paths_start_in_the_workspace_and_know_the_home_folder(
    root: Path, policy: PathPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root / "outside"))
    assert resolve_path("readme.md", policy) == root / "project" / "readme.md"
    assert resolve_path("~/diary.txt", policy) == root / "outside" / "diary.txt"
    assert resolve_path("~", policy) == root / "outside"
    assert resolve_path("~nobody-of-this-name/x", policy) == root / "project" / "~nobody-of-this-name" / "x"


def test_a_dangling_link_leads_to_its_target(root: Path, policy: PathPolicy) -> None:
    assert resolve_path("dangling", policy) == root / "outside" / "not-yet.txt"


def test_a_relative_link_starts_where_it_stands(root: Path, policy: PathPolicy) -> None:
    (root / "project" / "sub" / "up").symlink_to("../../outside")
    assert resolve_path("sub/up/new.txt", policy) == root / "outside" / "new.txt"


def test_a_refusal_names_path_folders_and_settings(root: Path, policy: PathPolicy) -> None:
    verdict = judge(f"{root}/outside/diary.txt", structs.replace(policy, allowed=(root / "project-secret",)))
    assert verdict.rule == "path.outside"
    for part in ("diary.txt", str(root / "project"), "project-secret", "allowedFolders", "fileAccessMode"):
        assert part in verdict.reason


def test_allowed_folders_are_resolved_as_well(root: Path, policy: PathPolicy) -> None:
    by_link = structs.replace(policy, allowed=(root / "project" / "to-outside",))
    assert judge(f"{root}/outside/diary.txt", by_link).outcome is Outcome.ALLOW
    assert judge(f"{root}/project-secret/loot.txt", by_link).outcome is Outcome.DENY


def test_unrestricted_opens_everything_but_the_blocked(root: Path, policy: PathPolicy) -> None:
    free = structs.replace(policy, unrestricted=True, blocked=(root / "outside",))
    assert judge("/etc/hostname", free).outcome is Outcome.ALLOW
    verdict = judge(f"{root}/outside/diary.txt", free)
    assert (verdict.outcome, verdict.rule) == (Outcome.DENY, "path.blocked")


@pytest.mark.parametrize(
    "path",
    [
        "project/sub",
        "project/sub/deep/file",
        "project/inner/x",
        "//project/sub/x",
        "project/../project/./sub",
        "outside/through/x",
    ],
)
def test_a_blocked_folder_inside_the_workspace_stays_closed(path: str, root: Path, policy: PathPolicy) -> None:
    (root / "outside" / "through").symlink_to(root / "project" / "sub")
    strict = structs.replace(policy, allowed=(root,), blocked=(root / "project" / "sub",))
    prefix = "/" if path.startswith("//") else ""
    text = f"{prefix}{root}/{path.removeprefix('//')}"
    assert judge(text, strict).rule == "path.blocked"


def test_a_blocked_link_closes_the_link_and_its_target(root: Path, policy: PathPolicy) -> None:
    strict = structs.replace(policy, allowed=(root,), blocked=(root / "project" / "to-outside",))
    assert judge("to-outside", strict, follow_last=False).rule == "path.blocked"
    assert judge(f"{root}/outside/diary.txt", strict).rule == "path.blocked"


def test_a_hard_link_to_a_blocked_file_is_blocked(root: Path, policy: PathPolicy) -> None:
    os.link(root / "outside" / "diary.txt", root / "project" / "copy.txt")
    strict = structs.replace(policy, blocked=(root / "outside" / "diary.txt",))
    assert judge("copy.txt", strict).rule == "path.blocked"


def test_a_blocked_file_that_does_not_exist_yet_cannot_be_made_in_any_spelling(root: Path, policy: PathPolicy) -> None:
    strict = structs.replace(policy, blocked=(root / "project" / "settings.json",))
    assert judge("settings.json", strict).rule == "path.blocked"
    assert judge("SETTINGS.json", strict).rule == "path.blocked"
    assert judge("settings.json.bak", strict).outcome is Outcome.ALLOW


def test_a_broken_entry_in_the_settings_closes_only_itself(root: Path, policy: PathPolicy) -> None:
    strict = structs.replace(policy, blocked=(root / "project" / "loop",))
    assert judge("readme.md", strict).outcome is Outcome.ALLOW
    assert judge("loop", strict, follow_last=False).rule == "path.blocked"


def test_another_case_counts_as_the_file_system_says(root: Path, policy: PathPolicy) -> None:
    folds_case = (root / "PROJECT").exists()
    allowed = judge(f"{root}/PROJECT/readme.md", policy).outcome is Outcome.ALLOW
    assert allowed == folds_case


def test_a_folder_that_may_not_be_entered_is_judged_by_its_name(root: Path, policy: PathPolicy) -> None:
    assert judge("readme.md/below-a-file", policy).outcome is Outcome.ALLOW
