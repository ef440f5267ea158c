"""The tools that publish: `ftp_publish`, `deploy_project` and `ftp_upload`. Where to is what a person saved.

What is compared and sent, `remote.publish` knows. Spec: integrations.md, row 20.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from anyio import to_thread
from msgspec import Struct, structs

from skales.core.errors import NotFoundError, ToolError
from skales.core.ports import Question
from skales.core.tool import Effect, Safety, ToolResult
from skales.data.deploy_targets import DeployTarget
from skales.data.ftp_profiles import FtpProfile
from skales.tools.binding import allowed_path
from skales.tools.context import ToolContext
from skales.tools.core.project_ids import find_named_project, find_project
from skales.tools.core.server_paths import remote_place
from skales.tools.define import tool
from skales.tools.describe import render_size
from skales.tools.file.wording import count_of, shown_name, shown_path
from skales.tools.remote.collecting import Collected, collect_files
from skales.tools.remote.connect import choose_profile, open_profile
from skales.tools.remote.folder import FolderPlace
from skales.tools.remote.place import Place
from skales.tools.remote.publish import Job, Plan, carry_out, make_plan

_SHOWN = 20
_DELETE, _KEEP = "Delete them", "Keep them"


class _Wish(Struct, frozen=True):
    """What the call asked for beyond sending what changed."""

    delete_missing: bool
    preview: bool


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.OUTBOUND,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Publish {source}[ to {profile}][ at {remote_path}][, deleting what is gone here: {delete_missing}]",
    example=("Put the website folder on my server", {"source": "website", "profile": "shop"}),
    needs="server",
    found_by=(
        "Webspace hochladen SFTP Server upload website files veröffentlichen FTP Webseite publish changed "
        "Webserver site"
    ),
    once=True,
    repeatable={"preview": (True,)},
    asks_unless={"preview": (True,)},
)
async def ftp_publish(  # noqa: PLR0913 - what a model may say to a tool stands in its signature
    ctx: ToolContext,
    source: Path,
    profile: str = "",
    remote_path: str = "",
    delete_missing: bool = False,
    preview: bool = False,
) -> ToolResult:
    """Publish a folder or file to a saved FTP, FTPS or SFTP server; only what changed is sent.

    Args:
        source: Folder whose content is published, or one file.
        profile: Name of the saved profile; may be left out when there is only one.
        remote_path: Folder on the server, inside the profile's own.
        delete_missing: Also delete on the server what was published earlier and no longer exists here.
        preview: Only say what would be sent.
    """
    chosen = await to_thread.run_sync(choose_profile, ctx, profile)
    return await _to_server(ctx, source, chosen, remote_path, _Wish(delete_missing, preview))


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.OUTBOUND,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    action="Deploy {project} to its saved target[, deleting what is gone here: {delete_missing}]",
    example=("Deploy the shop", {"project": "projects/shop"}),
    found_by=(
        "veröffentlichen ausrollen live release publish website deployen online stellen Webseite schalten "
        "deploy neue Version ausliefern site go production"
    ),
    once=True,
    repeatable={"preview": (True,)},
    asks_unless={"preview": (True,)},
)
async def deploy_project(
    ctx: ToolContext, project: Path, delete_missing: bool = False, preview: bool = False
) -> ToolResult:
    """Deploy a project to the server or folder that is saved as its target.

    Args:
        project: Its id or folder; list_projects shows them with their targets.
        delete_missing: Also delete at the target what was deployed earlier and no longer exists here.
        preview: Only say what would be sent.
    """
    project = await to_thread.run_sync(find_named_project, ctx, project)
    target = await to_thread.run_sync(ctx.deploy_targets.find, project)
    return await _to_target(ctx, project, target, _Wish(delete_missing, preview))


@tool(
    "core",
    Safety.CONFIRM,
    Effect.READS_PRIVATE,
    Effect.OUTBOUND,
    Effect.WRITES,
    Effect.DESTRUCTIVE,
    addon="codework",
    action="Upload the project {projectId} to its server",
    example=("Upload the project landing-page", {"projectId": "landing-page"}),
    found_by="Projekt hochladen SFTP deploy Lio project upload FTP",
    once=True,
)
async def ftp_upload(ctx: ToolContext, projectId: str) -> ToolResult:  # noqa: N803 - the name that is documented
    """Upload a project of the workspace to the server saved as its target, by its id.

    Args:
        projectId: Its id, from list_projects: the folder's name in workspace/projects, or its path.
    """
    project = await to_thread.run_sync(find_project, ctx, projectId)
    target = await to_thread.run_sync(ctx.deploy_targets.find, project)
    if not target.profile_id:
        raise ToolError(f"The target of {projectId!r} is a folder, not a server", hint="Use deploy_project")
    return await _to_target(ctx, project, target, _Wish(delete_missing=False, preview=False))


async def _to_target(ctx: ToolContext, project: Path, target: DeployTarget, wish: _Wish) -> ToolResult:
    source = allowed_path(str(project / target.subfolder), ctx.paths)
    if target.folder:
        return await _to_folder(ctx, source, allowed_path(target.folder, ctx.paths), wish)
    try:
        profile = await to_thread.run_sync(choose_profile, ctx, target.profile_id)
    except NotFoundError as error:
        raise ToolError(
            f"The profile that {project.name!r} is deployed to is gone",
            hint="A person saves another target with `skales ftp target`",
            code="no_profile",
        ) from error
    return await _to_server(ctx, source, profile, target.remote_path, wish)


async def _to_server(ctx: ToolContext, source: Path, profile: FtpProfile, path: str, wish: _Wish) -> ToolResult:
    base = remote_place(profile, path)
    files = await to_thread.run_sync(collect_files, source, ctx.paths)
    job = Job("|".join(map(str, (*profile.place, base))), base, files, wish.delete_missing)
    async with open_profile(ctx, profile) as place:
        result = await _bring(ctx, place, job, f"{profile.alias}:{base or '.'}", wish)
        if not place.fingerprint or profile.pin:
            return result
    note = f"{profile.host} is known by {place.fingerprint} from now on; another key will be refused."
    return replace(result, text=f"{result.text}\n{note}")


async def _to_folder(ctx: ToolContext, source: Path, folder: Path, wish: _Wish) -> ToolResult:
    if folder == source or folder.is_relative_to(source) or source.is_relative_to(folder):
        raise ToolError("A project cannot be deployed into itself", hint="A person saves another target folder")
    files = await to_thread.run_sync(collect_files, source, ctx.paths)
    job = Job(f"folder|{folder}", "", files, wish.delete_missing)
    return await _bring(ctx, FolderPlace(folder, ctx.paths, ctx.ids), job, shown_path(ctx, folder), wish)


async def _bring(ctx: ToolContext, place: Place, job: Job, where: str, wish: _Wish) -> ToolResult:
    plan = await make_plan(ctx, place, job)
    if wish.preview:
        return _render(plan, job, where, is_done=False)
    if plan.missing and wish.delete_missing and not await _may_delete(ctx, plan.missing, where):
        job = structs.replace(job, delete_missing=False)
    await _carry_out_once(ctx, place, job, plan)
    return _render(plan, job, where, is_done=True)


async def _carry_out_once(ctx: ToolContext, place: Place, job: Job, plan: Plan) -> None:
    """Carry the plan out. However it ends, it is known what got there, so that trying again sends nothing twice."""
    await ctx.scope.delivery.begin()
    try:
        await carry_out(ctx, place, job, plan)
    except BaseException:
        await ctx.scope.delivery.refuse()
        raise
    await ctx.scope.delivery.accept()


async def _may_delete(ctx: ToolContext, names: Sequence[str], where: str) -> bool:
    """In a conversation the person sees the names before anything is deleted; who runs the tool by hand has asked."""
    if not ctx.scope.session_id:
        return True
    listed = ", ".join(map(shown_name, names[:_SHOWN])) + (" …" if len(names) > _SHOWN else "")
    text = f"Delete {count_of(len(names), 'file')} at {where}: {listed}?"
    return await ctx.scope.ask(Question(text, (_DELETE, _KEEP))) == _DELETE


def _render(plan: Plan, job: Job, where: str, *, is_done: bool) -> ToolResult:
    what = f"{count_of(len(plan.changed), 'file')} ({render_size(plan.size_bytes)})"
    sent = f"Sent {what} to {where}" if is_done else f"Would send {what} to {where}"
    head = f"{sent}; {plan.unchanged:,} unchanged" if plan.unchanged else sent
    lines = [f"{head}.", *_listed([file.name for file in plan.changed])]
    if plan.missing and job.delete_missing:
        done = "Deleted there" if is_done else "Would delete there"
        lines += [f"{done} ({len(plan.missing)}):", *_listed(plan.missing)]
    elif plan.missing:
        lines += [f"Still there, although gone here ({len(plan.missing)}):", *_listed(plan.missing)]
    lines += _left_out(job.files)
    return ToolResult(
        text="\n".join(lines),
        summary=head,
        data={
            "sent": len(plan.changed) if is_done else 0,
            "changed": len(plan.changed),
            "unchanged": plan.unchanged,
            "bytes": plan.size_bytes,
            "deleted": len(plan.missing) if job.delete_missing and is_done else 0,
            "left_out": [*job.files.secrets, *job.files.links, *job.files.odd, *job.files.closed],
        },
    )


def _left_out(files: Collected) -> list[str]:
    groups = {
        "Left out, because they look like files with keys or passwords": files.secrets,
        "Left out, because they are links or no plain files": files.links,
        "Left out, because of their names": files.odd,
        "Left out, because they are closed to tools": files.closed,
        "Left out, as caches and the like": files.noise,
    }
    return [f"{words}: {_short(names)}" for words, names in groups.items() if names]


def _short(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(map(shown_name, names[:_SHOWN])) + (f" and {more} more" if more > 0 else "")


def _listed(names: Sequence[str]) -> list[str]:
    more = len(names) - _SHOWN
    return [f"  {shown_name(name)}" for name in names[:_SHOWN]] + ([f"  … and {more} more"] if more > 0 else [])
