"""`skales models`: list the models there are, ask a provider for its own, or find out by trying what one can."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from skales.app.app import App
from skales.app.life import open_app
from skales.app.model_offers import ProviderOffer
from skales.app.models import Models
from skales.cli.terminal import aside, paint, success, title, warn
from skales.core.events import Progress
from skales.core.json import JsonObject, JsonValue
from skales.core.ports import ModelTraits
from skales.data.model_probes import ProbeResult
from skales.data.paths import locate_data_directory
from skales.providers.probe import ProbeFinding

_SHOWN = 40
_SUBJECTS = {
    "tools": "calls tools",
    "parallel_calls": "calls several at once",
    "json": "writes JSON to a schema",
    "vision": "sees pictures",
    "context": "holds its context",
}
_OUTCOMES = {True: ("yes", "green"), False: ("no", "red"), None: ("not known", "yellow")}


def run(arguments: argparse.Namespace) -> int:
    """Dispatch the action; listing is the default."""
    as_json = "json" in arguments
    match arguments.action:
        case "refresh":
            return asyncio.run(_in_app(lambda app: _refresh(app, arguments.id, as_json=as_json)))
        case "probe":
            return asyncio.run(_in_app(lambda app: _probe(app, arguments, as_json=as_json)))
        case _:
            return asyncio.run(_in_app(lambda app: _list(app, as_json=as_json)))


async def _in_app(work: Callable[[App], Coroutine[Any, Any, int]]) -> int:
    async with open_app(locate_data_directory(), exclusive=False) as app:
        return await work(app)


# --- list ---


async def _list(app: App, *, as_json: bool) -> int:
    offers = app.models.available()
    if as_json:
        _print_json({"providers": [_offer_json(app.models, offer) for offer in offers]})
        return 0
    for offer in offers:
        title(offer.label + (" (active)" if offer.is_active else ""))
        _print_models(app.models, offer)
    print()
    aside("Prices are estimates per million tokens. `skales models refresh ID` asks a provider for its models.")
    return 0


def _print_models(models: Models, offer: ProviderOffer) -> None:
    _print_lines(
        [f"{model:<44} {paint(_describe(models.facts(offer.provider_id, model)), 'dim')}" for model in offer.models]
    )


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines[:_SHOWN]:
        print(f"  {line}".rstrip())
    if len(lines) > _SHOWN:
        print(f"  … and {len(lines) - _SHOWN} more")


def _describe(traits: ModelTraits) -> str:
    """`1,050,000 tokens · tools · vision · $5 in, $30 out`."""
    abilities = [name for name in ("tools", "vision", "reasoning", "json") if getattr(traits, name)]
    window = [f"{traits.context_tokens:,} tokens"] if traits.context_tokens else []
    sent, written = traits.input_usd_per_million, traits.output_usd_per_million
    price = [f"${sent:g} in, ${written:g} out"] if sent is not None and written is not None else []
    return " · ".join([*window, *abilities, *price, *(["measured"] if traits.is_measured else [])])


def _offer_json(models: Models, offer: ProviderOffer) -> JsonObject:
    return {
        "id": offer.provider_id,
        "label": offer.label,
        "active": offer.is_active,
        "local": offer.is_local,
        "fetchedAt": offer.fetched_ms or None,
        "models": [_model_json(model, models.facts(offer.provider_id, model)) for model in offer.models],
    }


def _model_json(model: str, traits: ModelTraits) -> JsonObject:
    return {
        "id": model,
        "contextTokens": traits.context_tokens or None,
        "outputTokens": traits.output_tokens or None,
        "tools": traits.tools,
        "vision": traits.vision,
        "reasoning": traits.reasoning,
        "json": traits.json,
        "measured": traits.is_measured,
        "inputUsdPerMillion": traits.input_usd_per_million,
        "cachedUsdPerMillion": traits.cached_usd_per_million,
        "outputUsdPerMillion": traits.output_usd_per_million,
        "warning": traits.warning or None,
    }


# --- refresh ---


async def _refresh(app: App, provider_id: str, *, as_json: bool) -> int:
    """Exit code 1 when the endpoint did not tell; what is known from before is still printed."""
    found = await app.models.refresh(provider_id)
    if as_json:
        error = str(found.error) if found.error else None
        _print_json({"models": list(found.models), "fetchedAt": found.fetched_ms or None, "error": error})
    else:
        _print_lines(found.models)
        if found.error:
            warn(f"{found.error.message}\n  {found.error.hint}".rstrip())
            aside("This is the last list, or the one that comes with Skales.")
        else:
            success(f"{provider_id} has {len(found.models)} models")
    return 1 if found.error else 0


# --- probe ---


async def _probe(app: App, arguments: argparse.Namespace, *, as_json: bool) -> int:
    steps = app.models.probe(arguments.id, arguments.model, context_ceiling_tokens=arguments.context)
    async with aclosing(steps):
        async for step in steps:
            match step:
                case Progress(label, done, total) if done < total:
                    aside(f"  {done + 1} of {total}: {_SUBJECTS.get(label, label)} …")
                case ProbeFinding() if not as_json:
                    _print_finding(step)
                case ProbeResult() if as_json:
                    _print_json(_result_json(step))
                case ProbeResult():
                    success("Kept; the next turns follow it")
                case _:
                    pass
    return 0


def _print_finding(finding: ProbeFinding) -> None:
    word, colour = _OUTCOMES[finding.outcome]
    detail = f"  {finding.detail}" if finding.detail else ""
    print(f"  {_SUBJECTS[finding.subject]:<26} {paint(word, colour)}{paint(detail, 'dim')}")


def _result_json(result: ProbeResult) -> JsonObject:
    return {
        "address": result.address,
        "tools": result.tools,
        "parallelCalls": result.parallel_calls,
        "json": result.json,
        "vision": result.vision,
        "contextTokens": result.context_tokens or None,
    }


def _print_json(value: JsonValue) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False)
    print()
