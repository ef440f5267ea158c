"""Routers put together without `include_router`, which would build every route a second time at the first request."""

from fastapi import APIRouter


def join_routers(whole: APIRouter, *parts: APIRouter) -> None:
    """Let `whole` answer for the routes of `parts` as they are: with the prefix and the guards they were made with."""
    for part in parts:
        whole.routes.extend(part.routes)
