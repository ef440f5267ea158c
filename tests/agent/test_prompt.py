"""The system prompt: the same all day, with what changes at its end."""

from pathlib import Path

from skales.agent.prompt import PromptFacts, build_system_prompt

FACTS = PromptFacts(
    workspace=Path("/home/a/work"), today="Monday, 30 November 2026", system="Linux x86_64", custom="Be brief."
)


def test_only_the_end_changes_with_the_day() -> None:
    today = build_system_prompt(FACTS, compact=False)
    other = PromptFacts(FACTS.workspace, "Tuesday, 1 December 2026", FACTS.system, FACTS.custom)
    tomorrow = build_system_prompt(other, compact=False)
    assert today.endswith(f"Today: {FACTS.today}")
    assert tomorrow == today.removesuffix(FACTS.today) + "Tuesday, 1 December 2026"


def test_the_persons_instructions_and_the_place_are_told() -> None:
    prompt = build_system_prompt(FACTS, compact=False)
    assert "Be brief." in prompt
    assert str(FACTS.workspace) in prompt


def test_a_small_model_gets_a_short_prompt_with_the_persons_instructions() -> None:
    prompt = build_system_prompt(FACTS, compact=True)
    assert prompt.endswith("Be brief.")
    assert len(prompt) < 200
    assert build_system_prompt(PromptFacts(FACTS.workspace, FACTS.today, FACTS.system), compact=True) in prompt
