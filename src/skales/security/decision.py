"""How a call may start: safety level and safety mode together. Pure tables, no settings are read.

Spec: orchestrator.md, "Effective decision"; security.md, "Safety modes".
"""

from typing import assert_never

from skales.core.tool import Outcome, Safety, SafetyMode, Verdict


def decide(safety: Safety, mode: SafetyMode, *, by_user: bool) -> Verdict:
    """Whether a call of this level runs, asks or is refused; what a person starts needs no second yes."""
    if by_user:
        return Verdict(Outcome.ALLOW)
    match safety:
        case Safety.AUTO:
            return Verdict(Outcome.ALLOW)
        case Safety.CONFIRM if mode is SafetyMode.SAFE:
            return Verdict(Outcome.ASK, "this tool asks first in the safety mode safe", "safety.confirm")
        case Safety.CONFIRM:
            return Verdict(Outcome.ALLOW)
        case Safety.MANUAL:
            return Verdict(
                Outcome.DENY, "this tool is started by a person only; say what you would do with it", "safety.manual"
            )
        case _:
            assert_never(safety)


def dangerous_in_mode(judgement: Verdict, mode: SafetyMode) -> Verdict:
    """What the guard's verdict about a command means in a mode.

    A dangerous command stays refused unless the mode is unrestricted, where the guard only warns: the verdict allows
    and keeps reason and rule. A command that was not understood asks in safe and runs elsewhere.
    """
    match judgement.outcome:
        case Outcome.ALLOW:
            return judgement
        case Outcome.ASK:
            return judgement if mode is SafetyMode.SAFE else Verdict(Outcome.ALLOW)
        case Outcome.DENY if mode is SafetyMode.UNRESTRICTED:
            return Verdict(Outcome.ALLOW, f"warning: {judgement.reason}", judgement.rule)
        case Outcome.DENY:
            return judgement
        case _:
            assert_never(judgement.outcome)
