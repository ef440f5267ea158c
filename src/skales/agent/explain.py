"""Says why a call runs, asks or is refused: the chain of rules, the one that decided, and the setting behind it.

Judges nothing itself: the findings are the gate's own. Spec: issue 6, point 1.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from msgspec import Struct

from skales.agent.policy import Finding
from skales.agent.reach_words import describe_grant
from skales.core.approval import RuleStep
from skales.core.tool import Outcome, Safety, ToolCall, ToolSpec, Verdict, strictest
from skales.data.grants import Grant
from skales.security.redact import redact

# What changes a rule, by the beginning of its name; the first that fits counts.
_SETTINGS = (
    ("safety.confirm", "safetyMode"),
    ("path.blocked", "blockedFolders"),
    ("path.outside", "allowedFolders"),
    ("network.blocked", "blockedDomains"),
    ("network.loopback", "allowLoopback"),
    ("network.lan", "allowLan"),
    ("network.tailnet", "allowLan"),
    ("shell.unclear", "safetyMode"),
)
_FREE = {
    "level": "This tool runs by itself",
    "path": "This place may be touched",
    "host": "This address may be reached",
    "command": "The command was read and does nothing that the guard forbids",
    "more": "Nothing more speaks against it",
}
_LEVEL_LIFTED = "This tool asks first in the safety mode safe, which is not on"
_HARMLESS = "This tool asks first, but not with these arguments"
_BY_USER = "A person starts this, so that no second yes is needed"
_ABOUT_LIMIT = 500
_NO_GRANT = "No earlier yes covers this call"


class Refused(Struct, frozen=True):
    """A call that never gets as far as being judged. `rule` is `tool`, `addon` or `arguments`."""

    rule: str
    decision: str
    words: str


class Explanation(Struct, frozen=True, kw_only=True):
    """What would happen with a call: `allow`, `ask` or `deny`, and by which rules.

    `covers` is what "always" would cover, in words; empty where it is not asked or no wider yes can be offered.
    """

    tool: str
    action: str
    outcome: str
    steps: tuple[RuleStep, ...]
    covers: str = ""

    @property
    def deciding(self) -> RuleStep:
        """The step that counts."""
        return next(step for step in self.steps if step.decides)


def chain_rules(
    spec: ToolSpec, findings: Sequence[Finding], *, by_user: bool, grant: Grant | None
) -> tuple[RuleStep, ...]:
    """Every rule's word about a judged call, in the order they are asked. Exactly one decides."""
    verdict = strictest(*(finding.verdict for finding in findings))
    steps = [_step(spec, finding, by_user=by_user) for finding in findings]
    if by_user:
        steps.append(RuleStep("person", "allow", _BY_USER))
    elif verdict.outcome is Outcome.ASK:
        steps.append(_grant_step(grant))
    place = _deciding(findings, verdict, by_user=by_user, granted=grant is not None)
    steps[place] = replace(steps[place], decides=True)
    if spec.addon:
        steps.insert(0, RuleStep("addon", "allow", "The add-on of this tool is on", spec.addon, f"addons.{spec.addon}"))
    return tuple(steps)


def build_explanation(
    call: ToolCall, found: tuple[RuleStep, ...] | Refused, *, action: str = "", covers: str = ""
) -> Explanation:
    """The whole answer; `found` is the chain, or what kept the call from being judged."""
    if isinstance(found, Refused):
        setting = "addons" if found.rule == "addon" else ""
        steps = (RuleStep(found.rule, "deny", found.words, call.name, setting, decides=True),)
        return Explanation(tool=call.name, action=action or call.name, outcome="deny", steps=steps)
    outcome = next(step.outcome for step in found if step.decides)
    return Explanation(tool=call.name, action=action, outcome=outcome, steps=found, covers=covers)


def render_explanation(explanation: Explanation) -> str:
    """The explanation as Markdown for a conversation."""
    outcome = {"allow": "would run", "ask": "would ask first", "deny": "would be refused"}[explanation.outcome]
    lines = [f"{_plain(explanation.action)}: this {outcome}.", ""]
    for step in explanation.steps:
        about = f" ({_plain(step.about)})" if step.about else ""
        line = f"{step.rule}: {_plain(step.words)}{about}"
        lines.append(f"- **{line}** (this decides)" if step.decides else f"- {line}")
    if explanation.deciding.setting:
        lines += ["", f"The setting that would change it: `{explanation.deciding.setting}`"]
    if explanation.covers:
        lines += ["", f"A wider yes would cover {_plain(explanation.covers)}."]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Words of a model or a path, so that nothing in them formats."""
    return re.sub(r"([\\*_\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def _deciding(findings: Sequence[Finding], verdict: Verdict, *, by_user: bool, granted: bool) -> int:
    """The place of the step that counts: a no first, then the person or the grant, else the strictest rule."""
    if verdict.outcome is not Outcome.DENY and (by_user or granted):
        return -1
    return next(place for place, finding in enumerate(findings) if finding.verdict is verdict)


def _step(spec: ToolSpec, finding: Finding, *, by_user: bool) -> RuleStep:
    verdict = finding.verdict
    setting = next((name for rule, name in _SETTINGS if verdict.rule.startswith(rule)), "")
    if not setting and finding.kind == "command" and verdict.outcome is Outcome.DENY:
        setting = "blockedFolders" if verdict.rule.startswith("path") else "safetyMode"
    words = verdict.reason or (_level_words(spec, by_user=by_user) if finding.kind == "level" else _FREE[finding.kind])
    return RuleStep(finding.kind, verdict.outcome.value, words, redact(finding.about[:_ABOUT_LIMIT]), setting)


def _level_words(spec: ToolSpec, *, by_user: bool) -> str:
    if by_user or spec.safety is Safety.AUTO:
        return _FREE["level"]
    return _HARMLESS if spec.asks_unless else _LEVEL_LIFTED


def _grant_step(grant: Grant | None) -> RuleStep:
    if grant is None:
        return RuleStep("grant", "ask", _NO_GRANT)
    return RuleStep("grant", "allow", f"You allowed this earlier: {describe_grant(grant)}", grant.id, "grants")
