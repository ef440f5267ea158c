"""FTP profiles over HTTP: list, save, remove, try, trust. Passwords go in and never come out."""

import anyio.to_thread
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from skales.app.reports import report_result
from skales.data.ftp_profiles import FtpProfileDraft, FtpProtocol, profile_json
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer

router = APIRouter(prefix="/api/ftp/profiles", dependencies=[KnownCaller])


class ProfileBody(BaseModel):
    """A profile as it is entered. Without `password` the one there is stays, as long as the server stays the same."""

    model_config = ConfigDict(extra="forbid")

    alias: str
    host: str
    username: str
    protocol: FtpProtocol = FtpProtocol.SFTP
    port: int = 0
    password: str | None = Field(default=None, repr=False)
    remote_path: str = Field(default="", alias="remotePath")
    key_file: str = Field(default="", alias="keyFile")
    enabled: bool = True

    def draft(self) -> FtpProfileDraft:
        """What the store takes."""
        return FtpProfileDraft(
            alias=self.alias,
            host=self.host,
            username=self.username,
            protocol=self.protocol,
            port=self.port,
            password=self.password,
            remote_path=self.remote_path,
            key_file=self.key_file,
            enabled=self.enabled,
        )


@router.get("")
async def list_profiles(app: AppDep) -> Answer:
    """Every profile, without passwords."""
    found = await anyio.to_thread.run_sync(app.ftp_profiles.list)
    return {"profiles": [profile_json(profile) for profile in found]}


@router.post("")
async def save_profile(app: AppDep, body: ProfileBody) -> Answer:
    """Add a profile, or replace the one of the same alias."""
    saved = await anyio.to_thread.run_sync(app.ftp_profiles.save, body.draft())
    return {"success": True, "profile": profile_json(saved)}


@router.delete("/{name}")
async def remove_profile(app: AppDep, name: str) -> Answer:
    """Forget a profile with its password."""
    removed = await anyio.to_thread.run_sync(app.ftp_profiles.remove, name)
    return {"success": True, "id": removed.id}


@router.post("/{name}/test")
async def try_profile(app: AppDep, name: str) -> Answer:
    """Connect, sign in and list the profile's folder, as the person at this machine."""
    profile = await anyio.to_thread.run_sync(app.ftp_profiles.find, name)
    return report_result(await app.run_tool("ftp_list", {"profile": profile.id}))


@router.post("/{name}/trust")
async def trust_profile(app: AppDep, name: str) -> Answer:
    """Forget the key the server is known by, so that the next connection keeps the one it meets."""
    profile = await anyio.to_thread.run_sync(app.ftp_profiles.find, name)
    await anyio.to_thread.run_sync(app.ftp_profiles.pin, profile.id, "")
    return {"success": True, "id": profile.id}
