"""A judge of clicks: those on a control that deletes, buys, pays or cancels ask in every safety mode.

Spec: orchestrator.md, "Effective decision".
"""

import re

from skales.agent.origin import CallOrigin
from skales.core.tool import Outcome, ToolCall, ToolSpec, Verdict

_TOOL = "computer_click"
_WORDS = re.compile(
    r"\b(?:delete|remove|erase|wipe|discard|buy|purchase|pay|order now|place order|check ?out|subscribe|donate|transfer"
    r"|cancel|unsubscribe|terminate|deactivate|close account|format|empty (?:the )?trash"
    r"|löschen?|entfernen?|verwerfen|kaufen|bezahlen|zahlen|(?:zahlungspflichtig|jetzt|kostenpflichtig) bestellen"
    r"|zur kasse|abonnieren|spenden|überweisen|überweisung|abbrechen|stornieren?|kündigen|abbestellen|deaktivieren"
    r"|formatieren|papierkorb leeren)\b",
    re.IGNORECASE,
)


def judge_click(spec: ToolSpec, call: ToolCall, origin: CallOrigin) -> Verdict:
    """Ask about a click whose control names something that cannot be taken back."""
    text = call.arguments.get("text")
    if spec.name != _TOOL or origin.by_user or not isinstance(text, str) or not _WORDS.search(text):
        return Verdict(Outcome.ALLOW)
    return Verdict(
        Outcome.ASK, f"the click is on {text[:80]!r}, which may not be possible to take back", "click.lasting"
    )
