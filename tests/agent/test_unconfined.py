"""The approval of a command says when nothing holds the command in."""

import pytest
from msgspec import structs

from skales.agent.policy import Policy
from skales.app.rules import build_policy, build_sandbox_rules
from skales.core.json import JsonObject
from skales.core.tool import Outcome, Safety, SafetyMode, ToolSpec, Verdict
from skales.data.paths import DataDirectory
from skales.data.setting_faults import parse_settings
from skales.security.network import NetworkPolicy
from skales.security.paths import PathPolicy
from skales.tools.programs import SandboxRules


def spec(form: str) -> ToolSpec:
    parameters: JsonObject = {"type": "object", "properties": {"it": {"type": "string", "format": form}}}
    return ToolSpec(name="x", description="x", parameters=parameters, category="system", safety=Safety.CONFIRM)


@pytest.fixture
def policy(home: DataDirectory) -> Policy:
    return Policy(SafetyMode.SAFE, PathPolicy(home.workspace), NetworkPolicy(), lambda: "nothing holds it in")


def judge(policy: Policy, form: str, *, by_user: bool = False) -> Verdict:
    return policy.judge(spec(form), {"it": "ls"}, by_user=by_user)


def test_only_a_question_about_a_command_says_it(policy: Policy) -> None:
    assert judge(policy, "shell-command") == Verdict(Outcome.ASK, "nothing holds it in", "safety.confirm")
    assert "holds" not in judge(policy, "path").reason
    assert judge(policy, "shell-command", by_user=True).outcome is Outcome.ALLOW
    assert judge(structs.replace(policy, mode=SafetyMode.ADVANCED), "shell-command").outcome is Outcome.ALLOW
    confined = structs.replace(policy, unconfined=lambda: "")
    assert judge(confined, "shell-command").reason == "this tool asks first in the safety mode safe"


def test_settings_decide_about_the_sandbox(home: DataDirectory) -> None:
    off, _faults = parse_settings({"sandbox": "off", "sandboxNetwork": False})
    assert build_policy(off, home).unconfined().startswith("the sandbox is switched off")
    assert build_sandbox_rules(off) == SandboxRules(is_wanted=False, is_required=False, allows_network=False)
    usual, _faults = parse_settings({})
    assert build_sandbox_rules(usual) == SandboxRules(is_wanted=True, is_required=False, allows_network=True)
    always, faults = parse_settings({"sandbox": "on"})
    assert (build_sandbox_rules(always).is_required, faults) == (True, ())
    assert parse_settings({"sandbox": "maybe"})[1][0].name == "sandbox"
