"""`skales ftp`: servers to publish to, and where projects are deployed. A password is asked for, never an argument."""

import argparse
import asyncio
import getpass
import json
import sys
from pathlib import Path

from skales.cli.backend import open_backend
from skales.cli.progress_bar import ProgressBar
from skales.cli.terminal import aside, can_ask, row, success, title, warn
from skales.core.clock import SystemClock
from skales.core.errors import InputError
from skales.core.ids import RandomIds
from skales.core.json import JsonObject, as_text
from skales.data.deploy_targets import DeployTarget, DeployTargets, target_json
from skales.data.ftp_profiles import FtpProfile, FtpProfileDraft, FtpProfiles, FtpProtocol, profile_json
from skales.data.paths import locate_data_directory
from skales.data.quarantine import Quarantine
from skales.data.vault import Vault


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default. Profiles are a file, which a running server reads anew."""
    directory = locate_data_directory()
    directory.create()
    clock = SystemClock()
    quarantine = Quarantine(directory.quarantine, clock)
    vault = Vault(directory, quarantine)
    vault.settle()
    profiles = FtpProfiles(directory, quarantine, clock, RandomIds(), vault)
    targets = DeployTargets(directory, quarantine)
    match arguments.action:
        case "add":
            return _add(profiles, arguments)
        case "remove":
            success(f"{profiles.remove(arguments.name).alias} is removed, with its password")
        case "test":
            return _test(profiles.find(arguments.name))
        case "trust":
            return _trust(profiles, arguments.name)
        case "target":
            _target(profiles, targets, arguments)
        case "targets":
            _list_targets(profiles, targets, as_json="json" in arguments)
        case _:
            _list(profiles, as_json="json" in arguments)
    return 0


def _list(profiles: FtpProfiles, *, as_json: bool) -> None:
    found = profiles.list()
    if as_json:
        print(json.dumps({"profiles": [profile_json(profile) for profile in found]}, ensure_ascii=False))
        return
    if not found:
        aside("No profile is saved. Add one with `skales ftp add NAME --host HOST --user USER`.")
    for profile in found:
        title(profile.alias + ("" if profile.enabled else " (switched off)"))
        row("server", f"{profile.protocol.value}://{profile.username}@{profile.host}:{profile.port}")
        row("folder", profile.remote_path or "(where the login leads)")
        row("sign-in", _sign_in(profile))
        row("known by", profile.pin or "(nothing yet)")


def _sign_in(profile: FtpProfile) -> str:
    if profile.key_file:
        return f"key file {profile.key_file}"
    if profile.password:
        return "password"
    return "ssh agent" if profile.protocol is FtpProtocol.SFTP else "no password"


def _add(profiles: FtpProfiles, arguments: argparse.Namespace) -> int:
    """Add or change a profile, then try it unless that is not wanted."""
    protocol = FtpProtocol(arguments.protocol)
    if arguments.key_file and protocol is not FtpProtocol.SFTP:
        raise InputError("A key file signs in to SFTP servers only", hint="Leave out --key-file, or use sftp")
    draft = FtpProfileDraft(
        alias=arguments.name,
        host=arguments.host,
        username=arguments.user,
        protocol=protocol,
        port=arguments.port,
        password=_ask_password(arguments),
        remote_path=arguments.path,
        key_file=str(Path(arguments.key_file).expanduser().absolute()) if arguments.key_file else "",
    )
    saved = profiles.save(draft)
    success(f"{saved.alias} is saved")
    if protocol is FtpProtocol.FTP:
        warn("FTP sends the password and all files readable for everyone on the way. Prefer ftps or sftp.")
    return 0 if arguments.no_test else _test(saved)


def _ask_password(arguments: argparse.Namespace) -> str | None:
    """None keeps the password there is."""
    if arguments.password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if arguments.no_password:
        return ""
    if not can_ask():
        return None
    words = (
        "Passphrase of the key (empty for none): " if arguments.key_file else "Password (empty keeps the saved one): "
    )
    return getpass.getpass(words) or None


def _test(profile: FtpProfile) -> int:
    result = asyncio.run(_run_tool("ftp_list", {"profile": profile.id}))
    if result["isError"]:
        warn(as_text(result["text"]))
        return 1
    success(f"It works: {as_text(result['summary'])}")
    return 0


async def _run_tool(name: str, arguments: JsonObject) -> JsonObject:
    bar = ProgressBar()
    try:
        async with open_backend() as backend:
            return await backend.run_tool(name, arguments, bar.show)
    finally:
        bar.clear()


def _trust(profiles: FtpProfiles, name: str) -> int:
    """Accept whatever key the server shows next, after the person has been shown the old one."""
    before = profiles.find(name)
    profiles.pin(before.id, "")
    code = _test(before)
    after = profiles.find(before.id)
    aside(f"  it was known by {before.pin or '(nothing)'}")
    aside(f"  it is known by {after.pin or '(nothing)'}")
    if code and not after.pin and before.pin:
        profiles.pin(before.id, before.pin)
        aside("  The old key is kept, because the connection failed.")
    return code


def _target(profiles: FtpProfiles, targets: DeployTargets, arguments: argparse.Namespace) -> None:
    project = Path(arguments.project).expanduser().resolve()
    if arguments.remove:
        targets.remove(project)
        success(f"{project.name} has no target any more")
        return
    profile = profiles.find(arguments.profile) if arguments.profile else None
    target = DeployTarget(
        project=str(project),
        profile_id=profile.id if profile else "",
        remote_path=arguments.path,
        folder=str(Path(arguments.folder).expanduser().resolve()) if arguments.folder else "",
        subfolder=arguments.subfolder,
    )
    targets.save(target)
    success(f"{project.name} is deployed to {_shown(profiles, target)}")


def _list_targets(profiles: FtpProfiles, targets: DeployTargets, *, as_json: bool) -> None:
    found = targets.list()
    if as_json:
        print(json.dumps({"targets": [target_json(target) for target in found]}, ensure_ascii=False))
        return
    if not found:
        aside("No target is saved. Save one with `skales ftp target FOLDER --profile NAME`.")
    for target in found:
        print(f"  {target.project}  →  {_shown(profiles, target)}")


def _shown(profiles: FtpProfiles, target: DeployTarget) -> str:
    if target.folder:
        return target.folder
    alias = next(
        (profile.alias for profile in profiles.list() if profile.id == target.profile_id), "(a removed profile)"
    )
    return f"{alias}:{target.remote_path or '.'}"
