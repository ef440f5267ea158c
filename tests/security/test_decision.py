"""Spec: orchestrator.md, "Effective decision"."""

import pytest

from skales.core.tool import Outcome, Safety, SafetyMode, Verdict
from skales.security.decision import dangerous_in_mode, decide

ALLOW, ASK, DENY = Outcome.ALLOW, Outcome.ASK, Outcome.DENY


@pytest.mark.parametrize(
    ("mode", "auto", "confirm", "manual"),
    [
        (SafetyMode.SAFE, ALLOW, ASK, DENY),
        (SafetyMode.ADVANCED, ALLOW, ALLOW, DENY),
        (SafetyMode.UNRESTRICTED, ALLOW, ALLOW, DENY),
    ],
)
def test_level_and_mode_decide_how_a_call_of_the_model_starts(
    mode: SafetyMode, auto: Outcome, confirm: Outcome, manual: Outcome
) -> None:
    found = [decide(level, mode, by_user=False).outcome for level in (Safety.AUTO, Safety.CONFIRM, Safety.MANUAL)]
    assert found == [auto, confirm, manual]


@pytest.mark.parametrize("mode", SafetyMode)
@pytest.mark.parametrize("level", Safety)
def test_what_a_person_starts_runs(level: Safety, mode: SafetyMode) -> None:
    assert decide(level, mode, by_user=True) == Verdict(ALLOW)


@pytest.mark.parametrize("mode", SafetyMode)
def test_a_refusal_says_who_may_start_the_tool(mode: SafetyMode) -> None:
    verdict = decide(Safety.MANUAL, mode, by_user=False)
    assert (verdict.rule, "by a person only" in verdict.reason) == ("safety.manual", True)


@pytest.mark.parametrize(
    ("judged", "mode", "outcome"),
    [
        (ALLOW, SafetyMode.SAFE, ALLOW),
        (ALLOW, SafetyMode.ADVANCED, ALLOW),
        (ALLOW, SafetyMode.UNRESTRICTED, ALLOW),
        (ASK, SafetyMode.SAFE, ASK),
        (ASK, SafetyMode.ADVANCED, ALLOW),
        (ASK, SafetyMode.UNRESTRICTED, ALLOW),
        (DENY, SafetyMode.SAFE, DENY),
        (DENY, SafetyMode.ADVANCED, DENY),
        (DENY, SafetyMode.UNRESTRICTED, ALLOW),
    ],
)
def test_the_guard_binds_by_mode(judged: Outcome, mode: SafetyMode, outcome: Outcome) -> None:
    assert dangerous_in_mode(Verdict(judged, "why", "shell.delete"), mode).outcome is outcome


def test_the_guard_still_warns_in_unrestricted() -> None:
    verdict = dangerous_in_mode(Verdict(DENY, "it deletes", "shell.delete"), SafetyMode.UNRESTRICTED)
    assert verdict == Verdict(ALLOW, "warning: it deletes", "shell.delete")
