"""A stored secret by its name: `{{secret:NAME}}` becomes its value just before a tool runs, and leaves what comes back.

What a person approves, what the audit log says and what the model gets has the name alone. Only calls that go out or
run a command get secrets. Spec: security.md, "Secrets".
"""

import os
from collections.abc import Callable
from dataclasses import replace

import anyio.to_thread
from msgspec import Struct, structs

from skales.agent.gate import PassedCall, Proceed
from skales.agent.origin import CallOrigin
from skales.core.errors import InputError, SkalesError, ToolError
from skales.core.events import Progress, TurnEvent
from skales.core.json import JsonObject
from skales.core.tool import Effect, Outcome, ToolCall, ToolResult, ToolSpec, Verdict, property_formats
from skales.data.secret_store import NamedSecret, SecretStore, environment_name
from skales.security.known_values import ValueMask, mask_for
from skales.security.placeholders import Filling, covers_host, fill, host_of, require_fillable, secret_names, texts_in

_RULE = "secret"


class SecretUse(Struct, frozen=True):
    """Judges calls that name secrets, and goes around those that run."""

    secrets: SecretStore

    def judge(self, spec: ToolSpec, call: ToolCall, _origin: CallOrigin) -> Verdict:
        """Whether the secrets that a call names may go where it goes; one that is bound to nothing asks."""
        names = secret_names(call.arguments) if takes_secrets(spec) else ()
        if not names:
            return Verdict(Outcome.ALLOW)
        try:
            require_fillable(property_formats(spec), call.arguments)
            found = [self.secrets.find(name) for name in names]
        except SkalesError as error:
            return Verdict(Outcome.DENY, str(error), _RULE)
        for secret in found:
            if refused := _refusal(secret, spec, call.arguments):
                return Verdict(Outcome.DENY, refused, _RULE)
        unbound = [secret.name for secret in found if not secret.hosts and not secret.tools]
        if unbound:
            named = ", ".join(unbound)
            return Verdict(Outcome.ASK, f"It would use the stored secret {named}, which is bound to no host", _RULE)
        return Verdict(Outcome.ALLOW)

    async def go_around(self, passed: PassedCall, proceed: Proceed) -> ToolResult:
        """Fill the secrets in, let the call run, and mask them in what comes back.

        Of a call that names none, the gate takes care, which masks every result.
        """
        names = secret_names(passed.call.arguments) if takes_secrets(passed.spec) else ()
        if not names:
            return await proceed(passed)
        inner, used = await anyio.to_thread.run_sync(self._fill, passed, names)
        mask = mask_for(frozenset(used))
        inner = replace(inner, origin=structs.replace(passed.origin, emit=_masked_emit(passed.origin.emit, mask)))
        try:
            result = await proceed(inner)
        except SkalesError as error:
            raise ToolError(mask.mask(error.message), hint=mask.mask(error.hint), code=error.code) from error
        # Behind what takes invisible characters out of the result, which may stand within a secret.
        passed.afterwards.append(lambda settled: _masked(settled, mask))
        return result

    def _fill(self, passed: PassedCall, names: tuple[str, ...]) -> tuple[PassedCall, tuple[str, ...]]:
        values = {name: self.secrets.value(name) for name in names}
        filling = Filling(
            formats=property_formats(passed.spec),
            value_of=values.__getitem__,
            variable_of=environment_name,
            windows=os.name == "nt",
        )
        filled = fill(filling, passed.call.arguments)
        if filled.environment and any("\0" in value for value in filled.environment.values()):
            raise InputError("A command cannot be given this secret")
        call = replace(passed.call, arguments=filled.arguments)
        return replace(passed, call=call, environment=filled.environment), tuple(values.values())


def takes_secrets(spec: ToolSpec) -> bool:
    """Whether placeholders mean something to a tool: it sends something out, or runs a command."""
    return Effect.OUTBOUND in spec.effects or "shell-command" in property_formats(spec).values()


def _refusal(secret: NamedSecret, spec: ToolSpec, arguments: JsonObject) -> str:
    """Why a secret does not go with a call; empty when it does."""
    if secret.tools and spec.name in secret.tools and not secret.hosts:
        return ""
    if secret.tools and spec.name not in secret.tools:
        return f"The secret {secret.name!r} is for {', '.join(secret.tools)} only, not for {spec.name}"
    if not secret.hosts:
        return ""
    formats = property_formats(spec)
    urls = [text for name, value in arguments.items() if formats.get(name) == "uri" for text in texts_in(value)]
    if not urls:
        if spec.name in secret.tools:
            return ""
        return (
            f"The secret {secret.name!r} is bound to hosts, and where {spec.name} sends it is not known. "
            f"Bind it to the tool {spec.name} as well"
        )
    strange = next((host_of(url) for url in urls if not covers_host(secret.hosts, host_of(url))), None)
    return "" if strange is None else f"The secret {secret.name!r} does not go to {strange or 'this address'}"


def _masked_emit(emit: Callable[[TurnEvent], None], mask: ValueMask) -> Callable[[TurnEvent], None]:
    def emit_masked(event: TurnEvent) -> None:
        emit(replace(event, label=mask.mask(event.label)) if isinstance(event, Progress) else event)

    return emit_masked


def _masked(result: ToolResult, mask: ValueMask) -> ToolResult:
    return replace(
        result,
        text=mask.mask(result.text),
        summary=mask.mask(result.summary),
        data=mask.mask_value(result.data),
        files=tuple(mask.mask(file) for file in result.files),
    )
