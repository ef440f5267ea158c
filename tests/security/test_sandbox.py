"""An enclosure follows the rules for files, and turns into mounts and profiles that say the same."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from skales.security.paths import PathPolicy
from skales.security.sandbox import Enclosure, Surroundings, enclose
from skales.security.sandbox_bubblewrap import Bubblewrap, bubblewrap_words
from skales.security.sandbox_seatbelt import seatbelt_profile, seatbelt_words


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    for name in ("home", "data/workspace", "open/closed", "tools"):
        (tmp_path / name).mkdir(parents=True)
    return Surroundings(home=tmp_path / "home", private=tmp_path / "data")


@pytest.fixture
def policy(tmp_path: Path) -> PathPolicy:
    return PathPolicy(
        tmp_path / "data" / "workspace", allowed=(tmp_path / "open",), blocked=(tmp_path / "open/closed",)
    )


def words_of(enclosure: Enclosure, bubblewrap: Bubblewrap | None = None) -> list[str]:
    return list(bubblewrap_words(bubblewrap or Bubblewrap("bwrap"), enclosure, Path("/work")))


def place_of(words: list[str], kind: str, path: Path) -> int:
    return next(
        (at for at, (word, next_word) in enumerate(pairwise(words)) if (word, next_word) == (kind, str(path))), -1
    )


def test_workspace_and_allowed_folders_are_writable(policy: PathPolicy, around: Surroundings, tmp_path: Path) -> None:
    enclosure = enclose(policy, around)
    assert set(enclosure.writable) == {tmp_path / "data" / "workspace", tmp_path / "open"}
    assert enclosure.blocked == (tmp_path / "open" / "closed",)


def test_what_a_rule_blocks_is_never_shown(around: Surroundings, tmp_path: Path) -> None:
    inside = PathPolicy(tmp_path / "data/workspace", allowed=(tmp_path / "open/closed",), blocked=(tmp_path / "open",))
    assert enclose(inside, around).writable == (tmp_path / "data" / "workspace",)
    tool = Surroundings(home=around.home, private=around.private, programs=(tmp_path / "open/closed",))
    assert tmp_path / "open/closed" not in enclose(inside, tool).readable


def test_links_count_as_the_place_they_lead_to(around: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "open")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    linked = PathPolicy(tmp_path / "data/workspace", allowed=(tmp_path / "link", tmp_path / "circle", tmp_path / "no"))
    assert set(enclose(linked, around).writable) == {tmp_path / "data/workspace", tmp_path / "open"}


def test_settings_of_git_are_shown_unless_they_hold_a_secret(
    policy: PathPolicy, around: Surroundings, tmp_path: Path
) -> None:
    settings = tmp_path / "home" / ".gitconfig"
    settings.write_text("[user]\n\tname = A\n", encoding="utf-8")
    assert settings in enclose(policy, around).readable
    for secret in ('[url "https://me:pw@example.org/"]', "[http]\n\textraheader = x", "[github]\n\ttoken = x"):
        settings.write_text(secret, encoding="utf-8")
        assert settings not in enclose(policy, around).readable


def test_blocked_place_lies_on_top_of_the_folder_it_is_in(
    policy: PathPolicy, around: Surroundings, tmp_path: Path
) -> None:
    words = words_of(enclose(policy, around))
    opened, closed = place_of(words, "--bind", tmp_path / "open"), place_of(words, "--tmpfs", tmp_path / "open/closed")
    assert 0 < opened < closed
    assert place_of(words, "--tmpfs", tmp_path / "data") == -1


def test_data_directory_is_covered_where_it_would_show_and_the_workspace_opened_again(
    around: Surroundings, tmp_path: Path
) -> None:
    policy = PathPolicy(tmp_path / "data" / "workspace", allowed=(tmp_path,), blocked=(tmp_path / "data" / "x.json",))
    (tmp_path / "data" / "x.json").write_text("", encoding="utf-8")
    words = words_of(enclose(policy, around))
    covered = place_of(words, "--tmpfs", tmp_path / "data")
    assert 0 < place_of(words, "--bind", tmp_path) < covered
    again = [at for at, word in enumerate(words) if word == str(tmp_path / "data/workspace")]
    assert max(again) > covered
    assert str(tmp_path / "data" / "x.json") not in words


def test_folders_on_the_way_to_a_blocked_place_cannot_be_renamed(around: Surroundings, tmp_path: Path) -> None:
    (tmp_path / "open/a/b/c").mkdir(parents=True)
    blocked = (tmp_path / "open/a/b/c", tmp_path / "open/a/b/d")
    (tmp_path / "open/a/b/d").write_text("", encoding="utf-8")
    words = words_of(enclose(PathPolicy(tmp_path / "data/workspace", (tmp_path / "open",), blocked), around))
    pins = [place_of(words, "--bind", tmp_path / name) for name in ("open", "open/a", "open/a/b")]
    covers = [place_of(words, "--tmpfs", blocked[0]), words.index(str(blocked[1]))]
    assert 0 < pins[0] < pins[1] < pins[2] < min(covers)
    assert words[words.index(str(blocked[1])) - 1] == "/dev/null"


def test_unrestricted_shows_everything_read_only_but_sockets(around: Surroundings, tmp_path: Path) -> None:
    policy = PathPolicy(tmp_path / "data" / "workspace", unrestricted=True)
    (tmp_path / "open" / "sock").touch()
    sockets = Surroundings(home=around.home, private=around.private, sockets=(Path("/run/x"), tmp_path / "open/sock"))
    words = words_of(enclose(policy, sockets))
    assert words[place_of(words, "--ro-bind", Path("/")) + 2] == "/"
    assert place_of(words, "--tmpfs", Path("/run")) > 0
    assert "--share-net" not in words


def test_switches_follow_the_enclosure_and_the_version(policy: PathPolicy, around: Surroundings) -> None:
    words = words_of(enclose(policy, around, network=True), Bubblewrap("/b", False, False))
    assert words[0] == "/b"
    assert {"--share-net", "--unshare-all", "--die-with-parent", "--new-session"} <= set(words)
    assert not {"--disable-userns", "--size"} & set(words)
    assert words[words.index("--uid") + 1] == str(os.getuid() or 1000)
    assert words[-3:] == ["--chdir", "/work", "--"]


def test_profile_for_macos_names_what_is_open_and_closes_last() -> None:
    home, data = Path("/Users/me"), Path("/Users/me/.skales-data")
    enclosure = Enclosure(
        home=home,
        private=data,
        readable=(Path("/opt/tool"),),
        writable=(data / "workspace", Path('/Users/me/a "b" \\ c')),
        blocked=(data / "workspace" / "closed",),
    )
    profile = seatbelt_profile(enclosure)
    rules = profile.splitlines()
    assert rules[:2] == ["(version 1)", "(deny default)"]
    assert "network" not in profile
    assert '(subpath "/Users/me/a \\"b\\" \\\\ c")' in profile
    assert f'(subpath "{home}")' not in profile
    order = [
        next(at for at, rule in enumerate(rules) if rule.startswith(start) and text in rule)
        for start, text in (
            ("(allow file-read* file-write* file-map", "workspace"),
            ("(deny file-read*", f'(subpath "{data}")'),
            ("(deny file-read*", "closed"),
            ("(deny file-write-unlink", f'(literal "{data}")'),
        )
    ]
    assert order == sorted(order)
    assert seatbelt_words(enclosure) == ["/usr/bin/sandbox-exec", "-p", profile]


def test_profile_has_no_rule_that_holds_for_everything() -> None:
    profile = seatbelt_profile(Enclosure(home=Path("/h"), private=Path("/d")))
    bare = [rule for rule in profile.splitlines() if "file-write" in rule or "mach" in rule or "network" in rule]
    assert all("(subpath " in rule or "(literal " in rule or "(global-name " in rule for rule in bare)
    assert '(subpath "/")' not in profile
    assert '(subpath "/")' in seatbelt_profile(Enclosure(home=Path("/h"), private=Path("/d"), whole=True))
    assert "network-outbound" in seatbelt_profile(Enclosure(home=Path("/h"), private=Path("/d"), network=True))
