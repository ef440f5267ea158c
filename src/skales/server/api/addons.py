"""Our own routes to the add-ons and their switches. Spec: addons.md, "Storage"."""

from fastapi import APIRouter

from skales.app.addons import report_addons, switch_addon
from skales.core.errors import InputError
from skales.server.access import AppDep, KnownCaller
from skales.server.bodies import Answer, JsonBody

router = APIRouter(prefix="/api/addons", dependencies=[KnownCaller])


@router.get("")
def read_addons(app: AppDep) -> Answer:
    """Every add-on that has tools."""
    return report_addons(app)


@router.patch("/{addon_id}")
def switch(app: AppDep, addon_id: str, body: JsonBody) -> Answer:
    """Switch one on or off; 409 for one without a switch."""
    is_on = body.get("enabled")
    if not isinstance(is_on, bool):
        raise InputError("'enabled' must be true or false")
    return switch_addon(app, addon_id, is_on=is_on)
