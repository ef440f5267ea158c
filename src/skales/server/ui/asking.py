"""A question to the person as frames to a page: its card, and what became of it."""

from skales.core.approval import Approval
from skales.core.events import ApprovalResolved
from skales.core.json import JsonObject
from skales.core.tool import ToolSpec
from skales.server.ui.cards import build_card
from skales.server.ui.pages import render
from skales.server.words import N_, _

_OUTCOME_WORDS = {
    "approved": N_("Allowed"),
    "declined": N_("Not allowed"),
    "expired": N_("Nobody answered in time, which counts as no"),
    "cancelled": N_("Withdrawn"),
}


def show_ask(approval: Approval, spec: ToolSpec | None) -> JsonObject:
    """The data of an `ask` frame: the card, and what is said of it aloud."""
    card = build_card(approval, spec)
    words = _("Question: %(text)s", text=card.action)
    if not card.is_question:
        words = _("Allow this? %(action)s", action=card.action)
    return {"id": card.id, "call": card.call_key, "html": render(card), "text": words}


def show_asked(resolved: ApprovalResolved) -> JsonObject:
    """The data of an `asked` frame: the question is over."""
    return {"id": resolved.approval_id, "text": _(_OUTCOME_WORDS.get(resolved.outcome, resolved.outcome))}
