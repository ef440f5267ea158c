"""The frames for what a model wrote, and the files of the workspace."""

import gzip
import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from skales.data.paths import DataDirectory
from skales.server import preview

FRAMES = ["/ui/preview/page", "/ui/preview/diagram"]


@pytest.fixture
def page(client: TestClient) -> TestClient:
    client.get("/chat", headers={"accept": "text/html"})
    return client


def policies(page: TestClient, address: str) -> Sequence[str]:
    return page.get(address).headers.get_list("content-security-policy")


@pytest.mark.parametrize("address", FRAMES)
def test_a_frame_belongs_to_nobody_and_has_no_network(page: TestClient, address: str) -> None:
    (policy,) = policies(page, address)
    for rule in (
        "default-src 'none'",
        "connect-src 'none'",
        "frame-src 'none'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-scripts",
    ):
        assert rule in policy.split("; ")
    assert page.get(address).headers["connection-allowlist"] == "()"


def test_only_our_own_scripts_run_in_the_frame_of_a_diagram(page: TestClient) -> None:
    (policy,) = policies(page, "/ui/preview/diagram")
    assert "script-src 'sha256-" in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert "'unsafe-eval'" not in policy


def test_every_other_answer_keeps_the_rules_of_the_page(page: TestClient) -> None:
    (policy,) = policies(page, "/chat")
    assert "frame-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("address", [*FRAMES, "/ui/preview/file?path=a.txt"])
def test_a_stranger_gets_nothing(client: TestClient, address: str) -> None:
    assert client.get(address).status_code == 401
    assert client.get(address, headers={"sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"}).status_code == 403


def test_the_vendored_file_is_the_one_that_is_recorded() -> None:
    vendor = Path(preview.__file__).parent / "static" / "vendor"
    (row,) = [
        line for line in (vendor / "README.md").read_text(encoding="utf-8").splitlines() if "mermaid-tiny" in line
    ]
    packed = (vendor / re.findall(r"`([^`]+\.gz)`", row)[0]).read_bytes()
    digests = [hashlib.sha256(data).hexdigest() for data in (gzip.decompress(packed), packed)]
    assert re.findall(r"`([0-9a-f]{64})`", row) == digests


# --- files ---


def test_a_picture_is_shown_and_cannot_act(page: TestClient, home: DataDirectory) -> None:
    (home.workspace / "a b.svg").write_text("<svg><script>alert(1)</script></svg>", encoding="utf-8")
    answer = page.get("/ui/preview/file", params={"path": "a b.svg"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-disposition"].startswith("inline")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"].split("; ")


@pytest.mark.parametrize("name", ["page.html", "run.js", "notes.txt", "data", "report.pdf"])
def test_every_other_file_is_saved(page: TestClient, home: DataDirectory, name: str) -> None:
    (home.workspace / name).write_text("<script>alert(1)</script>", encoding="utf-8")
    answer = page.get("/ui/preview/file", params={"path": name})
    assert answer.text == "<script>alert(1)</script>"
    assert answer.headers["content-disposition"].startswith("attachment")


def test_files_outside_the_workspace_are_refused(page: TestClient, home: DataDirectory, tmp_path: Path) -> None:
    outside = home.root / "secret.txt"
    outside.write_text("secret", encoding="utf-8")
    (home.workspace / "link.txt").symlink_to(outside)
    (home.workspace / "folder").symlink_to(home.root)
    for path in ("../secret.txt", str(outside), "link.txt", "folder/secret.txt", "/etc/passwd", "~/x", "a\0b"):
        answer = page.get("/ui/preview/file", params={"path": path})
        assert answer.status_code in (400, 404), path
        assert "secret" not in answer.text.replace("secret.txt", "")


def test_what_is_no_file_is_not_found(page: TestClient, home: DataDirectory) -> None:
    (home.workspace / "folder").mkdir()
    os.mkfifo(home.workspace / "pipe.png")
    for path in ("none.txt", "folder", "pipe.png", "."):
        assert page.get("/ui/preview/file", params={"path": path}).status_code == 404, path
