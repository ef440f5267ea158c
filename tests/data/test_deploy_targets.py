from pathlib import Path

import pytest

from skales.core.errors import InputError, NotFoundError
from skales.data.deploy_targets import DeployTarget, DeployTargets
from skales.data.document import write_object
from skales.data.paths import DataDirectory
from skales.data.published import PublishedFile, PublishedFiles
from skales.data.quarantine import Quarantine
from tests.conftest import FixedClock


@pytest.fixture
def targets(home: DataDirectory, clock: FixedClock) -> DeployTargets:
    return DeployTargets(home, Quarantine(home.quarantine, clock))


def test_a_project_has_one_target(targets: DeployTargets, home: DataDirectory) -> None:
    first = DeployTarget(project="/p/shop", profile_id="ftp_1", remote_path="www", subfolder="dist")
    targets.save(DeployTarget(project="/p/other", folder="/srv/other"))
    targets.save(first)
    assert targets.find(Path("/p/shop")) == first
    second = DeployTarget(project="/p/shop", folder="/srv/shop")
    targets.save(second)
    assert [target.project for target in targets.list()] == ["/p/other", "/p/shop"]
    assert targets.find(Path("/p/shop")) == second
    targets.remove(Path("/p/shop"))
    for missing in (targets.find, targets.remove):
        with pytest.raises(NotFoundError, match="No target is saved"):
            missing(Path("/p/shop"))
    assert home.deploy_targets in home.private


@pytest.mark.parametrize(
    "target",
    [
        DeployTarget(project="shop", folder="/x"),
        DeployTarget(project="/p"),
        DeployTarget(project="/p", folder="/x", profile_id="ftp_1"),
        DeployTarget(project="/p", folder="x"),
        DeployTarget(project="/p", folder="/x", subfolder="../other"),
        DeployTarget(project="/p", folder="/x", subfolder="/etc"),
    ],
)
def test_what_leads_nowhere_or_elsewhere_is_refused(targets: DeployTargets, target: DeployTarget) -> None:
    with pytest.raises(InputError):
        targets.save(target)


def test_entries_that_cannot_be_read_are_passed_over(targets: DeployTargets, home: DataDirectory) -> None:
    write_object(home.deploy_targets, {"targets": [{"project": "/p", "folder": "/x", "from": "../.."}, 7, {}]})
    assert targets.list() == []


def test_what_was_published_is_kept_by_place(home: DataDirectory, clock: FixedClock) -> None:
    published = PublishedFiles(home, Quarantine(home.quarantine, clock))
    files = {"ä/b.txt": PublishedFile(1, 2, "abc")}
    published.save("one", files)
    assert published.load("one") == files
    assert published.load("two") == {}
    (path,) = home.published.iterdir()
    path.write_text("{", encoding="utf-8")
    assert published.load("one") == {}
