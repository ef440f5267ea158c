import json

import pytest

from skales.providers.weak.answer import Call, ChoiceReader, Outcome, Reply, Unreadable


def read(text: str, size: int = 1) -> tuple[str, Outcome]:
    """Feed a text in chunks of a size; what was given out on the way, and what it was in the end."""
    reader = ChoiceReader()
    given = "".join(reader.feed(text[at : at + size]) for at in range(0, len(text), size))
    return given, reader.finish()


HARD = 'He said "hi"\n\ttab \\ slash é 你好 😀 \U0001f469‍\U0001f4bb /'


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_reply_streams_the_same_text_however_it_is_cut(size: int, ascii_only: bool) -> None:
    text = json.dumps({"tool": "reply", "text": HARD}, ensure_ascii=ascii_only)
    assert read(text, size) == (HARD, Reply(""))


def test_a_reply_is_given_out_before_it_is_complete() -> None:
    reader = ChoiceReader()
    assert reader.feed('{"tool": "reply", "text": "Par') == "Par"
    assert reader.feed("is") == "is"


def test_a_reply_cut_off_keeps_what_came() -> None:
    assert read('{"tool": "reply", "text": "Paris is\\u00') == ("Paris is", Reply(""))


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert read('{"tool":"reply","text":"a\\ud83d b\\ude00"}')[0] == "a\ufffd b\ufffd"


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_a_call_gives_out_no_text(size: int) -> None:
    text = '{"tool": "read_file", "arguments": {"path": "a.txt"}}'
    assert read(text, size) == ("", Call("read_file", {"path": "a.txt"}, text))


def test_white_space_between_tokens_is_harmless() -> None:
    text = '{\n "tool"\n:\n"read_file","arguments"\n:\n{\n}\n}'
    assert read(text) == ("", Call("read_file", {}, text))
    assert read('\n{ "tool" :"reply"\n,"text" : "Yes"}')[0] == "Yes"


def test_a_call_cut_off_says_so() -> None:
    text = '{"tool": "write_file", "arguments": {"path": "a.txt", "content": "lo'
    assert read(text) == ("", Call("write_file", {}, text, "The call was cut off before its arguments were complete"))


def test_arguments_that_are_no_object_are_a_problem() -> None:
    text = '{"tool": "read_file", "arguments": ["a.txt"]}'
    assert read(text) == ("", Call("read_file", {}, text, "The arguments are not an object"))


def test_a_fenced_call_is_understood() -> None:
    body = '{"tool": "read_file", "arguments": {"path": "a.txt"}}'
    assert read(f"```json\n{body}\n```\n") == ("", Call("read_file", {"path": "a.txt"}, body))


def test_prose_streams_as_it_comes() -> None:
    assert read("Paris is the capital.") == ("Paris is the capital.", Reply(""))


def test_a_reply_with_its_keys_the_other_way_round_comes_at_the_end() -> None:
    assert read('{"text": "Paris", "tool": "reply"}') == ("", Reply("Paris"))


@pytest.mark.parametrize("text", ["", "  ", "{", "{}", '{"tool": 3}', '{"tool": "reply"}', '{"tool": "rep'])
def test_what_is_neither_call_nor_reply_is_unreadable(text: str) -> None:
    given, outcome = read(text)
    assert given == ""
    assert isinstance(outcome, Unreadable)
