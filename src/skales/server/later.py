"""Routes that are loaded with the first request for one of their places: a start does not pay for every screen."""

from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from fastapi import APIRouter
from fastapi.params import Depends
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

_FOUND = "skales.route"


class LaterRoutes(BaseRoute):
    """The routes of one router, named as `module:router`, which all begin with one of its places.

    A place is a whole address or what stands before a slash in it: `/tasks` is also that of `/tasks/7`. With a prefix
    or guards the router is included under them, else its routes are taken as they are.
    """

    def __init__(self, name: str, *places: str, prefix: str = "", guards: Sequence[Depends] = ()) -> None:
        self._name = name
        self.places = tuple(prefix + place for place in places)
        self._folders = tuple(f"{place}/" for place in self.places if place != "/")
        self._prefix = prefix
        self._guards = guards
        self._routes: Sequence[BaseRoute] = ()

    def __repr__(self) -> str:
        """The router and its places."""
        return f"LaterRoutes({self._name}, {', '.join(self.places)})"

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """As the first of its routes that matches fully, else as the first that would with another method."""
        if scope["type"] != "http" or not self.covers(scope["path"]):
            return Match.NONE, {}
        nearest: tuple[Match, Scope] = (Match.NONE, {})
        for route in self.load():
            match, inner = route.matches(scope)
            if match is Match.FULL:
                return match, {**inner, _FOUND: route}
            if match is Match.PARTIAL and nearest[0] is Match.NONE:
                nearest = match, {**inner, _FOUND: route}
        return nearest

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the route that matched answer."""
        scope["route"] = scope[_FOUND]
        await scope[_FOUND].handle(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: object) -> NoReturn:
        """Addresses are written out here, never looked up by a route's name. Raises NoMatchFound."""
        raise NoMatchFound(name, path_params)

    def covers(self, path: str) -> bool:
        """Whether an address is one of its places or below one."""
        return path in self.places or path.startswith(self._folders)

    def load(self) -> Sequence[BaseRoute]:
        """Its routes; the module is imported now if it has not been."""
        if not self._routes:
            module, _, name = self._name.partition(":")
            router: APIRouter = getattr(import_module(module), name)
            if self._prefix or self._guards:
                around = APIRouter()
                around.include_router(router, prefix=self._prefix, dependencies=self._guards)
                router = around
            self._routes = router.routes
        return self._routes
