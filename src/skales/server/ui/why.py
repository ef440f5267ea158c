"""The chain of rules behind a question, in the person's language. Used by cards and by the page of grants."""

from collections.abc import Sequence

from skales.core.approval import RuleStep
from skales.server.step_views import WhyLine
from skales.server.told import told
from skales.server.words import N_, _

_RULES = {
    "tool": N_("Tool"),
    "addon": N_("Add-on"),
    "arguments": N_("Arguments"),
    "level": N_("Safety level"),
    "path": N_("Place"),
    "host": N_("Address"),
    "command": N_("Command"),
    "more": N_("Other rules"),
    "person": N_("You"),
    "grant": N_("Earlier yes"),
}
_OUTCOMES = {"allow": N_("does not object"), "ask": N_("asks"), "deny": N_("refuses")}
_LINKS = {"grants": "/grants", "addons": "/skills"}


def build_why(steps: Sequence[RuleStep]) -> tuple[WhyLine, ...]:
    """One line per rule."""
    return tuple(_build_line(step) for step in steps)


def _build_line(step: RuleStep) -> WhyLine:
    words = told(step.words)
    return WhyLine(
        rule=_(_RULES.get(step.rule, step.rule)),
        outcome=step.outcome,
        outcome_words=_(_OUTCOMES.get(step.outcome, step.outcome)),
        words=words[:1].upper() + words[1:],
        about="" if step.rule in ("grant", "addon") else step.about,
        decides=step.decides,
        setting=step.setting,
        link=_link(step.setting),
    )


def _link(setting: str) -> str:
    if not setting:
        return ""
    return _LINKS.get(setting.partition(".")[0], f"/settings#setting-{setting}")
