"""What stands under an answer: who wrote it, when, and what it took, in one line and in a small table."""

from collections.abc import Iterable

from msgspec import Struct, field

from skales.app.costs import FactsOf, price_usage
from skales.core.message import Message, Role, Usage
from skales.server.conversation_views import ReceiptRow
from skales.server.ui.phrases import show_duration, show_number, show_speed, show_usage, show_usd
from skales.server.ui.provider_names import LabelOf
from skales.server.views import Moment
from skales.server.words import _, ngettext

Chosen = tuple[str, str]


class Effort(Struct, frozen=True):
    """What the requests of a turn took together."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0


def sum_effort(messages: Iterable[Message]) -> Effort:
    """Of the answers among these messages."""
    requests, usage, duration_ms = 0, Usage(), 0
    for message in messages:
        if message.role is Role.ASSISTANT:
            requests += 1
            usage = usage.plus(message.usage or Usage())
            duration_ms += message.duration_ms
    return Effort(requests, usage, duration_ms)


def show_facts(message: Message) -> tuple[str, ...]:
    """The line: model, tokens, duration, as far as they are known."""
    facts = (message.model, show_usage(message.usage), show_duration(message.duration_ms))
    return tuple(fact for fact in facts if fact)


def build_receipt(
    message: Message, when: Moment, effort: Effort, label_of: LabelOf, facts_of: FactsOf | None = None
) -> tuple[ReceiptRow, ...]:
    """The table. `effort` is the whole turn's, told when it took more than this one request.

    With `facts_of`, which knows prices, it says what this request cost by today's list.
    """
    usage = message.usage or Usage()
    rows = [
        (_("Model"), message.model),
        (_("Provider"), label_of(message.provider) if message.provider else ""),
        (_("Time"), when.words if message.timestamp_ms else ""),
        (_("Tokens in"), _show_inward(usage)),
        (_("Tokens out"), show_number(usage.output_tokens) if usage.output_tokens else ""),
        (_("Estimated cost"), _show_cost(message, facts_of) if facts_of else ""),
        (_("Duration"), show_duration(message.duration_ms)),
        (_("Speed"), show_speed(usage.output_tokens, message.duration_ms)),
        (_("Whole turn"), _show_effort(effort)),
    ]
    return tuple(ReceiptRow(label, value) for label, value in rows if value)


def name_swap(message: Message, chosen: Chosen, label_of: LabelOf) -> str:
    """Says that another model wrote this than the conversation is set to; empty when it is the one."""
    provider, model = chosen
    if not provider or not message.provider:
        return ""
    if message.provider == provider and (not model or message.model == model):
        return ""
    return _(
        "Written by %(writer)s. This conversation is set to %(chosen)s.",
        writer=_name(label_of(message.provider), message.model),
        chosen=_name(label_of(provider), model),
    )


def _name(label: str, model: str) -> str:
    return _("%(model)s (%(provider)s)", model=model, provider=label) if model else label


def _show_inward(usage: Usage) -> str:
    if not usage.input_tokens:
        return ""
    count = show_number(usage.input_tokens)
    if not usage.cached_tokens:
        return count
    return _("%(count)s, of these %(cached)s cached", count=count, cached=show_number(usage.cached_tokens))


def _show_cost(message: Message, facts_of: FactsOf) -> str:
    usage = message.usage or Usage()
    if not message.provider or not (usage.input_tokens or usage.output_tokens):
        return ""
    cost_usd = price_usage(facts_of(message.provider, message.model), usage)
    return _("unknown") if cost_usd is None else show_usd(cost_usd)


def _show_effort(effort: Effort) -> str:
    if effort.requests < 2:
        return ""
    requests = ngettext("%(num)d request", "%(num)d requests", effort.requests)
    told = (requests, show_usage(effort.usage), show_duration(effort.duration_ms))
    return ", ".join(part for part in told if part)
