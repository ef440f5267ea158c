"""Publishing, listing and downloading against real FTP, FTPS and SFTP servers."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import asyncssh
import pytest

from skales.core.errors import ToolError, ToolRefusedError
from skales.core.events import Progress
from skales.core.json import as_list, as_object, as_text
from skales.core.ports import CallScope
from skales.data.deploy_targets import DeployTarget, DeployTargets
from skales.data.ftp_profiles import FtpProfileDraft, FtpProfiles, FtpProtocol
from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.security.network import NetworkPolicy
from skales.tools.context import ToolContext
from skales.tools.registry import BuiltinToolbox
from tests.conftest import CountingIds, FixedClock
from tests.servers.ftp_site import FtpSite, LyingFtp, lying_ftp, make_certificate
from tests.servers.sftp_site import sftp_site
from tests.tools.conftest import Call, Rules

pytestmark = [
    pytest.mark.anyio,
    # pyftpdlib leaves closing of its log and sockets to the collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def profiles(home: DataDirectory, clock: FixedClock, ids: CountingIds) -> FtpProfiles:
    return FtpProfiles(home, Quarantine(home.quarantine, clock), clock, ids)


@pytest.fixture
def targets(home: DataDirectory, clock: FixedClock) -> DeployTargets:
    return DeployTargets(home, Quarantine(home.quarantine, clock))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """What the server serves."""
    folder = tmp_path / "served"
    (folder / "www").mkdir(parents=True)
    return folder


@pytest.fixture
def site_folder(workspace: Path) -> Path:
    """A website with what must not leave."""
    site = workspace / "site"
    for name, content in {
        "index.html": "<h1>Hi</h1>", "css/style.css": "h1 {}", "img/deep/a b.txt": "ä", ".env": "KEY=secret",
        "keys/server.key": "secret", "node_modules/x/index.js": "x", ".git/config": "x", ".DS_Store": "x",
    }.items():  # fmt: skip
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(content, encoding="utf-8")
    (site / "link").symlink_to("/etc/passwd")
    return site


PUBLISHED = ["css/style.css", "img/deep/a b.txt", "index.html"]


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@dataclass
class Server:
    """One that runs; `commands` are those an FTP server got."""

    protocol: FtpProtocol
    port: int
    commands: list[str]


@pytest.fixture(params=list(FtpProtocol))
async def server(
    request: pytest.FixtureRequest, root: Path, tmp_path: Path, profiles: FtpProfiles
) -> AsyncIterator[Server]:
    protocol = FtpProtocol(request.param)
    async with AsyncExitStack() as stack:
        if protocol is FtpProtocol.SFTP:
            key = asyncssh.generate_private_key("ssh-ed25519")
            running = Server(protocol, await stack.enter_async_context(sftp_site(root, key)), [])
        else:
            running = stack.enter_context(ftp_server(protocol, root, tmp_path))
        save(profiles, running)
        yield running


def ftp_server(protocol: FtpProtocol, root: Path, tmp_path: Path) -> Any:
    certificate = None if protocol is FtpProtocol.FTP else make_certificate(tmp_path)
    implicit = protocol is FtpProtocol.FTPS_IMPLICIT
    return _Running(protocol, FtpSite(root, certificate, implicit=implicit))


class _Running:
    def __init__(self, protocol: FtpProtocol, site: FtpSite) -> None:
        self._site = site
        self._protocol = protocol

    def __enter__(self) -> Server:
        self._site.__enter__()
        return Server(self._protocol, self._site.port, self._site.commands)

    def __exit__(self, *error: object) -> None:
        self._site.__exit__(*error)


def save(profiles: FtpProfiles, server: Server, **changes: Any) -> None:
    draft: dict[str, Any] = {
        "alias": "shop", "host": "127.0.0.1", "port": server.port, "username": "ada", "password": "lovelace",
        "protocol": server.protocol, "remote_path": "www", **changes,
    }  # fmt: skip
    profiles.save(FtpProfileDraft(**draft))


# --- every protocol ---


async def test_a_folder_is_published_and_then_only_what_changed(
    call: Call, server: Server, root: Path, site_folder: Path
) -> None:
    result = await call("ftp_publish", source="site")
    assert files_below(root) == [f"www/{name}" for name in PUBLISHED]
    assert (root / "www/img/deep/a b.txt").read_text(encoding="utf-8") == "ä"
    assert result.summary == "Sent 3 files (18 bytes) to shop:www"
    assert "keys or passwords: .env, keys/server.key" in result.text
    assert "links or no plain files: link" in result.text
    assert "caches and the like: .DS_Store, .git, node_modules" in result.text
    again = await call("ftp_publish", source="site")
    assert again.summary == "Sent 0 files (0 bytes) to shop:www; 3 unchanged"
    (site_folder / "css/style.css").write_text("h2 {}", encoding="utf-8")
    os.utime(site_folder / "index.html", (1, 1))
    changed = await call("ftp_publish", source="site", profile="SHOP")
    assert changed.summary == "Sent 1 file (5 bytes) to shop:www; 2 unchanged"
    assert (root / "www/css/style.css").read_text(encoding="utf-8") == "h2 {}"


async def test_what_is_gone_here_stays_there_unless_asked(
    call: Call, rules: Rules, server: Server, root: Path, site_folder: Path
) -> None:
    await call("ftp_publish", source="site")
    (root / "www/theirs.txt").write_text("put there by somebody else", encoding="utf-8")
    (site_folder / "css/style.css").unlink()
    kept = await call("ftp_publish", source="site")
    assert "Still there, although gone here (1):\n  css/style.css" in kept.text
    rules.answers = ["Keep them"]
    await call("ftp_publish", source="site", delete_missing=True)
    assert (root / "www/css/style.css").exists()
    rules.answers = ["Delete them"]
    result = await call("ftp_publish", source="site", delete_missing=True)
    assert rules.questions[-1].text == "Delete 1 file at shop:www: css/style.css?"
    assert "Deleted there (1):\n  css/style.css" in result.text
    assert files_below(root) == ["www/img/deep/a b.txt", "www/index.html", "www/theirs.txt"]


async def test_a_file_that_vanished_or_changed_there_is_sent_again(
    call: Call, server: Server, root: Path, site_folder: Path
) -> None:
    await call("ftp_publish", source="site")
    (root / "www/index.html").unlink()
    (root / "www/css/style.css").write_text("cut", encoding="utf-8")
    assert (await call("ftp_publish", source="site")).summary.startswith("Sent 2 files")
    assert (root / "www/css/style.css").read_text(encoding="utf-8") == "h1 {}"


async def test_a_preview_changes_nothing(call: Call, server: Server, root: Path, site_folder: Path) -> None:
    result = await call("ftp_publish", source="site", preview=True)
    assert result.summary.startswith("Would send 3 files")
    assert files_below(root) == []


async def test_a_new_folder_is_made_with_its_parents(call: Call, server: Server, root: Path, site_folder: Path) -> None:
    await call("ftp_publish", source="site/css", remote_path="a/b")
    assert files_below(root) == ["www/a/b/style.css"]
    await call("ftp_publish", source="site/index.html", remote_path="a")
    assert "www/a/index.html" in files_below(root)


async def test_a_folder_is_listed(call: Call, server: Server, root: Path) -> None:
    (root / "www/sub").mkdir()
    (root / "www/a.txt").write_text("12345", encoding="utf-8")
    result = await call("ftp_list", profile="shop")
    lines = result.text.splitlines()
    assert lines[0].startswith("a.txt  5 bytes  20")
    assert lines[1].startswith("sub/")
    assert result.summary == "shop:www holds 2 entries"
    assert (await call("ftp_list", remote_path="sub")).text == "[shop:www/sub is empty]"
    with pytest.raises(ToolError) as caught:
        await call("ftp_list", remote_path="nosuch")
    assert caught.value.code == "not_found"


async def test_a_file_is_downloaded(call: Call, server: Server, root: Path, workspace: Path) -> None:
    content = os.urandom(700_000)
    (root / "www/data.bin").write_bytes(content)
    result = await call("ftp_download", remote_path="data.bin")
    assert (workspace / "data.bin").read_bytes() == content
    assert result.summary == "Downloaded 1 file (683.6 KB) from shop:www/data.bin to data.bin"
    with pytest.raises(ToolError, match="something with that name"):
        await call("ftp_download", remote_path="data.bin")
    await call("ftp_download", remote_path="data.bin", destination="sub/x.bin")
    assert (workspace / "sub/x.bin").read_bytes() == content
    with pytest.raises(ToolError):
        await call("ftp_download", remote_path="nosuch.bin")
    assert names_in(workspace) == ["data.bin", "sub"]


async def test_a_folder_is_downloaded_without_links(call: Call, server: Server, root: Path, workspace: Path) -> None:
    (root / "www/sub").mkdir()
    (root / "www/a.txt").write_text("a", encoding="utf-8")
    (root / "www/sub/b.txt").write_text("b", encoding="utf-8")
    (root / "www/out").symlink_to("/etc")
    result = await call("ftp_download", remote_path="", destination="copy")
    assert result.summary.startswith("Downloaded 2 files (2 bytes) from shop:www to copy")
    assert files_below(workspace / "copy") == ["a.txt", "sub/b.txt"]


async def test_a_wrong_password_is_said_plainly(call: Call, server: Server, profiles: FtpProfiles) -> None:
    save(profiles, server, password="hunter2")
    with pytest.raises(ToolError, match="did not accept the user name or the password") as caught:
        await call("ftp_list")
    assert "hunter2" not in str(caught.value)
    assert profiles.find("shop").pin == ""


async def test_an_upload_can_be_cancelled_and_leaves_no_half_file(
    call_with: Callable[[CallScope], Call], scope: CallScope, server: Server, root: Path, workspace: Path
) -> None:
    (workspace / "big").mkdir()
    (workspace / "big/big.bin").write_bytes(b"x" * 40_000_000)
    moved: list[int] = []
    with anyio.CancelScope() as cancel:

        def report(progress: Progress) -> None:
            if progress.unit == "bytes":
                moved.append(progress.done)
                cancel.cancel()

        await call_with(CallScope(scope.session_id, scope.call_id, scope.ask, report))("ftp_publish", source="big")
    assert cancel.cancelled_caught
    assert 0 < moved[-1] < 40_000_000
    with anyio.fail_after(5):
        while files_below(root):  # noqa: ASYNC110 - the server tells nobody when it is done
            await anyio.sleep(0.02)


@pytest.fixture
def call_with(toolbox: BuiltinToolbox) -> Callable[[CallScope], Call]:
    def make(scope: CallScope) -> Call:
        async def run(name: str, **arguments: Any) -> Any:
            spec = toolbox.find(name)
            assert spec is not None
            return await toolbox.run(spec, toolbox.check_arguments(spec, arguments), scope)

        return run

    return make


@dataclass
class Steps:
    """A delivery that keeps what it was told."""

    key: str = "key"
    said: list[str] = field(default_factory=list)

    async def begin(self) -> None:
        self.said.append("begin")

    async def accept(self) -> None:
        self.said.append("accept")

    async def refuse(self) -> None:
        self.said.append("refuse")


async def test_publishing_says_how_far_it_is(
    call_with: Callable[[CallScope], Call], scope: CallScope, targets: DeployTargets, site_folder: Path, workspace: Path
) -> None:
    targets.save(DeployTarget(project=str(site_folder), folder=str(workspace / "out")))
    sent, previewed = Steps(), Steps()
    await call_with(replace(scope, delivery=previewed))("deploy_project", project="site", preview=True)
    await call_with(replace(scope, delivery=sent))("deploy_project", project="site")
    assert (previewed.said, sent.said) == ([], ["begin", "accept"])


async def test_publishing_that_breaks_off_may_be_tried_again(
    call_with: Callable[[CallScope], Call], scope: CallScope, targets: DeployTargets, site_folder: Path, workspace: Path
) -> None:
    targets.save(DeployTarget(project=str(site_folder), folder=str(workspace / "out")))
    steps = Steps()

    def report(_progress: Progress) -> None:
        if steps.said:
            raise ToolError("The disk is full")

    with pytest.raises(ToolError, match="full"):
        await call_with(replace(scope, delivery=steps, report=report))("deploy_project", project="site")
    assert steps.said == ["begin", "refuse"]


# --- keys ---


@pytest.mark.parametrize("protocol", [FtpProtocol.FTPS, FtpProtocol.FTPS_IMPLICIT])
async def test_another_certificate_is_refused_with_both_fingerprints(
    call: Call, profiles: FtpProfiles, root: Path, tmp_path: Path, protocol: FtpProtocol
) -> None:
    implicit = protocol is FtpProtocol.FTPS_IMPLICIT
    with FtpSite(root, make_certificate(tmp_path, "one"), implicit=implicit) as site:
        save(profiles, Server(protocol, site.port, []))
        first = await call("ftp_list")
    pin = profiles.find("shop").pin
    assert pin.startswith("SHA256:")
    assert f"is known by {pin} from now on" in first.text
    with FtpSite(root, make_certificate(tmp_path, "two"), implicit=implicit, port=site.port) as other:
        with pytest.raises(ToolRefusedError, match="certificate of 127") as caught:
            await call("ftp_list")
        assert pin in str(caught.value)
        assert str(caught.value).count("SHA256:") == 2
        assert not any(command.startswith(("USER", "PASS")) for command in other.commands)


async def test_another_host_key_is_refused_with_both_fingerprints(
    call: Call, profiles: FtpProfiles, root: Path
) -> None:
    key = asyncssh.generate_private_key("ssh-ed25519")
    async with sftp_site(root, key) as port:
        save(profiles, Server(FtpProtocol.SFTP, port, []))
        await call("ftp_list")
    assert profiles.find("shop").pin == key.get_fingerprint()
    other = asyncssh.generate_private_key("ssh-ed25519")
    async with sftp_site(root, other, port):
        with pytest.raises(ToolRefusedError) as caught:
            await call("ftp_list")
    assert key.get_fingerprint() in str(caught.value)
    assert other.get_fingerprint() in str(caught.value)


async def test_a_key_file_signs_in(call: Call, profiles: FtpProfiles, root: Path, tmp_path: Path) -> None:
    own = asyncssh.generate_private_key("ssh-ed25519")
    own.write_private_key(tmp_path / "id", passphrase="open", rounds=1, ignore_few_rounds=True)
    host = asyncssh.generate_private_key("ssh-ed25519")
    async with sftp_site(root, host, accepted=own.export_public_key().decode()) as port:
        server = Server(FtpProtocol.SFTP, port, [])
        save(profiles, server, key_file=str(tmp_path / "id"), password="open")
        assert (await call("ftp_list")).data == {"entries": [], "total": 0}
        save(profiles, server, key_file=str(tmp_path / "id"), password="wrong")
        with pytest.raises(ToolError, match=r"key file .* cannot be used"):
            await call("ftp_list")


async def test_a_server_without_tls_gets_no_password(call: Call, profiles: FtpProfiles, root: Path) -> None:
    with FtpSite(root) as site:
        save(profiles, Server(FtpProtocol.FTPS, site.port, []))
        with pytest.raises(ToolError):
            await call("ftp_list")
        assert not any(command.startswith(("USER", "PASS")) for command in site.commands)


# --- old and odd servers ---


async def test_a_server_without_mlsd_is_understood(
    call: Call, profiles: FtpProfiles, root: Path, site_folder: Path
) -> None:
    with FtpSite(root, without=("MLSD", "MLST")) as site:
        save(profiles, Server(FtpProtocol.FTP, site.port, []))
        await call("ftp_publish", source="site")
        again = await call("ftp_publish", source="site")
        assert again.summary.endswith("3 unchanged")
        assert "LIST" in site.commands
        assert not any(command.startswith("MLSD") for command in site.commands)
        with pytest.raises(ToolError):
            await call("ftp_list", remote_path="nosuch")


# --- servers that lie ---


def save_lying(profiles: FtpProfiles, site: LyingFtp) -> None:
    save(profiles, Server(FtpProtocol.FTP, site.port, []), remote_path="")


async def test_a_passive_address_elsewhere_is_never_connected_to(call: Call, profiles: FtpProfiles) -> None:
    with lying_ftp(PASV=lambda site, _line: site.passive("127,0,0,99")) as site:
        site.data = b"type=file;size=1; a.txt\r\n"
        save_lying(profiles, site)
        # Nothing listens at .99: the data came from the host of the profile itself.
        assert "a.txt" in (await call("ftp_list")).text


EVIL = [
    "../up.txt", "/etc/abs.txt", "..", "a/../../b.txt", "c\\..\\d.txt", "nul\x00.txt", "new\x1b[2Jline.txt",
]  # fmt: skip


async def test_evil_names_are_left_out_of_a_download(call: Call, profiles: FtpProfiles, workspace: Path) -> None:
    def list_or_send(site: LyingFtp, line: str) -> str:
        rows = [f"type=file;size=4; {name}\r\n" for name in (*EVIL, "good.txt")]
        rows += ["type=OS.unix=slink:/etc/passwd;size=4; slink\r\n", "type=file;size=4; good.txt\r\n"]
        site.data = "".join(rows).encode() if line.startswith("MLSD") else b"good"
        return "150 coming"

    with lying_ftp(MLSD=list_or_send, RETR=list_or_send) as site:
        save_lying(profiles, site)
        result = await call("ftp_download", remote_path="/", destination="got")
    assert files_below(workspace) == ["got/good.txt"]
    assert "Left out, as links, closed, or with names that cannot be used here:" in result.text
    assert "\x1b" not in result.text
    assert isinstance(result.data, dict)
    assert result.data["left_out"] == len(EVIL) + 2


async def test_a_download_that_breaks_off_leaves_nothing(call: Call, profiles: FtpProfiles, workspace: Path) -> None:
    def answer(site: LyingFtp, line: str) -> str:
        site.data = b"type=file;size=1000; a.bin\r\n" if line.startswith("MLSD") else b"x" * 400
        return "150 coming"

    with lying_ftp(MLSD=answer, RETR=answer) as site:
        save_lying(profiles, site)
        with pytest.raises(ToolError, match="came in part: 400 of 1,000 bytes"):
            await call("ftp_download", remote_path="a.bin")
        with pytest.raises(ToolError, match="came in part"):
            await call("ftp_download", remote_path="/", destination="all")
    assert names_in(workspace) == []


async def test_a_huge_listing_is_refused(call: Call, profiles: FtpProfiles) -> None:
    with lying_ftp() as site:
        site.data = b"".join(b"type=file;size=1; f%d\r\n" % number for number in range(30_000))
        save_lying(profiles, site)
        with pytest.raises(ToolError, match="more than can be listed"):
            await call("ftp_list")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"USER": "hang up"}, "closed the connection"),
        ({"PASS": "530 no"}, "did not accept"),
        ({"MLSD": "hang up"}, "closed the connection"),
        ({"PWD": "no such thing at all"}, "cannot be read|answers"),
        ({"PASV": "227 nonsense"}, "cannot be read|answers"),
        ({"MLSD": "421 too many"}, "answers: 421 too many"),
    ],
)
async def test_bad_answers_are_errors(call: Call, profiles: FtpProfiles, answers: dict[str, str], words: str) -> None:
    with lying_ftp(**answers) as site:
        save_lying(profiles, site)
        with pytest.raises(ToolError, match=words):
            await call("ftp_list")


@pytest.mark.parametrize("command", ["USER", "PASV", "MLSD"])
async def test_a_server_that_never_answers_can_be_left_at_once(call: Call, profiles: FtpProfiles, command: str) -> None:
    def wait(site: LyingFtp, _line: str) -> str:
        site.release.wait(30)
        return "hang up"

    async def ask() -> None:
        await call("ftp_list")

    with lying_ftp(**{command: wait}) as site:
        save_lying(profiles, site)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                while not any(line.startswith(command) for line in site.commands):  # noqa: ASYNC110 - another thread
                    await anyio.sleep(0.01)
                tasks.cancel_scope.cancel()
        site.release.set()


async def test_nobody_there_is_an_error(call: Call, profiles: FtpProfiles) -> None:
    with lying_ftp() as site:
        pass
    for protocol in FtpProtocol:
        save(profiles, Server(protocol, site.port, []))
        with pytest.raises(ToolError, match="cannot be reached"):
            await call("ftp_list")


# --- rules ---


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "fe80::1", "0x7f.1", "224.0.0.1"])
async def test_hosts_are_judged(call: Call, profiles: FtpProfiles, rules: Rules, host: str) -> None:
    rules.network = NetworkPolicy(allow_loopback=False)
    save(profiles, Server(FtpProtocol.FTP, 21, []), host=host)
    with pytest.raises(ToolRefusedError):
        await call("ftp_list")


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc", "/", "x\r\nDELE y", "/www2"])
async def test_the_folder_of_the_profile_is_not_left(call: Call, profiles: FtpProfiles, path: str) -> None:
    save(profiles, Server(FtpProtocol.FTP, 21, []), remote_path="/www")
    for name, more in (("ftp_list", {}), ("ftp_download", {}), ("ftp_publish", {"source": "."})):
        with pytest.raises(ToolError):
            await call(name, remote_path=path, **more)


async def test_without_a_profile_or_with_several_one_must_be_named(call: Call, profiles: FtpProfiles) -> None:
    with pytest.raises(ToolError, match="No FTP profile is saved"):
        await call("ftp_list")
    for alias in ("one", "two"):
        save(profiles, Server(FtpProtocol.FTP, 21, []), alias=alias)
    with pytest.raises(ToolError, match="several FTP profiles") as caught:
        await call("ftp_list")
    assert "one, two" in caught.value.hint
    with pytest.raises(ToolError, match="no FTP profile 'three'"):
        await call("ftp_list", profile="three")
    save(profiles, Server(FtpProtocol.FTP, 21, []), alias="one", enabled=False)
    with pytest.raises(ToolError, match="switched off"):
        await call("ftp_list", profile="one")


@pytest.mark.parametrize("source", [".env", "keys/server.key"])
async def test_a_file_with_keys_is_not_published_alone(
    call: Call, server: Server, root: Path, site_folder: Path, source: str
) -> None:
    with pytest.raises(ToolError, match="keys or passwords"):
        await call("ftp_publish", source=f"site/{source}")
    assert files_below(root) == []


# --- projects ---


@pytest.fixture
def project(workspace: Path, site_folder: Path) -> Path:
    (workspace / "projects").mkdir()
    return site_folder.rename(workspace / "projects" / "land")


async def test_a_project_is_deployed_to_its_server(  # noqa: PLR0913 - fixtures
    call: Call, rules: Rules, server: Server, targets: DeployTargets, root: Path, project: Path
) -> None:
    with pytest.raises(ToolError, match="No target is saved"):
        await call("deploy_project", project="projects/land")
    targets.save(DeployTarget(project=str(project), profile_id="shop", remote_path="land"))
    assert (await call("deploy_project", project="projects/land")).summary == "Sent 3 files (18 bytes) to shop:www/land"
    assert files_below(root / "www/land") == PUBLISHED
    rules.addons["codework"] = True
    assert (await call("ftp_upload", projectId="land")).summary.endswith("3 unchanged")
    with pytest.raises(ToolError, match="outside"):
        await call("ftp_upload", projectId="../../land")
    for named in ("lamp", "projects/land/index.html", "", "projects/../lamp"):
        with pytest.raises(ToolError, match="There is no project") as caught:
            await call("ftp_upload", projectId=named)
        assert "workspace/projects" in caught.value.hint


async def test_a_project_is_named_by_id_or_path_wherever_it_is(  # noqa: PLR0913 - fixtures
    call: Call, rules: Rules, server: Server, targets: DeployTargets, workspace: Path, site_folder: Path, project: Path
) -> None:
    rules.addons["codework"] = True
    elsewhere = workspace / "code" / "shop"
    shutil.copytree(project, elsewhere)
    for folder in (project, elsewhere):
        targets.save(DeployTarget(project=str(folder), profile_id="shop", remote_path=folder.name))
        (folder / "package.json").write_text("{}", encoding="utf-8")
    listed = {as_text(as_object(row)["id"]) for row in as_list((await call("list_projects")).data)}
    assert listed == {"land", "code/shop"}
    for project_id in sorted(listed):
        assert not (await call("ftp_upload", projectId=project_id)).is_error
        assert (await call("deploy_project", project=project_id)).summary.endswith("unchanged")
    assert not (await call("ftp_upload", projectId=str(elsewhere))).is_error


async def test_a_project_is_deployed_to_a_folder(
    call: Call, rules: Rules, targets: DeployTargets, workspace: Path, site_folder: Path
) -> None:
    targets.save(DeployTarget(project=str(site_folder), folder=str(workspace / "live" / "site")))
    result = await call("deploy_project", project="site")
    assert files_below(workspace / "live/site") == PUBLISHED
    assert "keys or passwords: .env" in result.text
    (site_folder / "index.html").unlink()
    rules.answers = ["Delete them"]
    await call("deploy_project", project="site", delete_missing=True)
    assert files_below(workspace / "live/site") == PUBLISHED[:2]
    (workspace / "live/site/css/style.css").unlink()
    (workspace / "live/site/css/style.css").symlink_to("/etc/passwd")
    with pytest.raises(ToolError):
        await call("deploy_project", project="site")


@pytest.mark.parametrize("folder", ["{workspace}/site/out", "{workspace}", "/etc/site"])
async def test_a_target_folder_must_be_allowed(
    call: Call, targets: DeployTargets, workspace: Path, site_folder: Path, folder: str
) -> None:
    targets.save(DeployTarget(project=str(site_folder), folder=folder.format(workspace=workspace)))
    with pytest.raises(ToolError):
        await call("deploy_project", project="site")


async def test_the_context_holds_what_was_published(
    ctx: ToolContext, call: Call, server: Server, site_folder: Path
) -> None:
    await call("ftp_publish", source="site")
    key = f"127.0.0.1|{server.port}|ada|{server.protocol}|www"
    assert sorted(ctx.published.load(key)) == PUBLISHED
