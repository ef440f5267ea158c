"""Who is asked next: the chain, its notices, and what no other provider could cure."""

import pytest

from skales.agent.standby import CURABLE, Needs, Standby, find_needs
from skales.core.errors import ProviderError, ProviderFault
from skales.core.events import Notice
from skales.core.message import ImagePart, Message, Role, text_message
from skales.core.ports import ChosenModel
from tests.scripted import ScriptedChooser, ScriptedProvider


def needs() -> Needs:
    return Needs(vision=False, tools=True)


PROVIDER = ScriptedProvider([])
FIRST = ChosenModel("first", "m1", PROVIDER)
SECOND = ChosenModel("second", "m2", PROVIDER)
THIRD = ChosenModel("third", "m3", PROVIDER)
DOWN = ProviderError("First cannot be reached", fault=ProviderFault.UNREACHABLE)


def build(*others: ChosenModel) -> tuple[Standby, ScriptedChooser, list[Notice]]:
    chooser, told = ScriptedChooser(PROVIDER, others=others), list[Notice]()
    return Standby(chooser, FIRST, told.append), chooser, told


def test_the_primary_is_asked_while_it_answers() -> None:
    standby, _chooser, told = build(SECOND)
    assert standby.pick(needs) is FIRST
    standby.note_success(FIRST)
    assert standby.pick(needs) is FIRST
    assert told == []


def test_a_failure_leads_to_the_next_with_a_notice_that_names_both() -> None:
    standby, chooser, told = build(SECOND)
    assert standby.replace_failed(standby.pick(needs), DOWN, needs) is SECOND
    assert chooser.failed == ["first"]
    assert told == [
        Notice(
            "warning",
            "m1 (first) does not answer (First cannot be reached); m2 (second) answers instead until it does",
        )
    ]


def test_the_one_that_helped_goes_on_without_another_notice_until_the_primary_is_asked_again() -> None:
    standby, chooser, told = build(SECOND)
    standby.replace_failed(standby.pick(needs), DOWN, needs)
    assert standby.pick(needs) is SECOND
    assert len(told) == 1
    chooser.failed.clear()
    assert standby.pick(needs) is FIRST
    assert told[1] == Notice("info", "m1 (first) is asked again")


def test_one_that_failed_in_an_earlier_turn_is_not_asked_first() -> None:
    standby, chooser, told = build(SECOND)
    chooser.failed.append("first")
    assert standby.pick(needs) is SECOND
    assert "it failed a moment ago" in told[0].text


def test_a_resting_primary_is_asked_when_nobody_stands_by() -> None:
    standby, chooser, told = build()
    chooser.failed.append("first")
    assert standby.pick(needs) is FIRST
    assert told == []


def test_the_chain_is_walked_to_its_end() -> None:
    standby, _chooser, _told = build(SECOND, THIRD)
    assert standby.replace_failed(FIRST, DOWN, needs) is SECOND
    assert standby.replace_failed(SECOND, DOWN, needs) is THIRD
    assert standby.replace_failed(THIRD, DOWN, needs) is None


def test_another_model_of_the_same_provider_helps_when_one_does_not_exist() -> None:
    sibling = ChosenModel("first", "m9", PROVIDER)
    standby, chooser, _told = build(sibling)
    gone = ProviderError("First does not offer m1", fault=ProviderFault.UNKNOWN_MODEL)
    assert standby.replace_failed(FIRST, gone, needs) is sibling
    assert chooser.failed == []
    assert standby.pick(needs) is sibling


@pytest.mark.parametrize("fault", sorted(set(ProviderFault) - CURABLE))
def test_what_is_wrong_with_the_request_is_not_tried_elsewhere(fault: ProviderFault) -> None:
    standby, chooser, told = build(SECOND)
    assert standby.replace_failed(FIRST, ProviderError("No", fault=fault), needs) is None
    assert (chooser.failed, told) == ([], [])


def test_needs_follow_the_history_and_the_offer() -> None:
    picture = Message(role=Role.USER, content=(ImagePart("image/png", "AAAA"),))
    assert find_needs([picture], offers_tools=False) == Needs(vision=True, tools=False)
    assert find_needs([text_message(Role.USER, "Hi")], offers_tools=True) == Needs(vision=False, tools=True)
