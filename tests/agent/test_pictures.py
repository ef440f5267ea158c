from skales.agent.pictures import leave_out_pictures
from skales.core.message import ImagePart, Message, Role, TextPart, text_message

PLAIN = text_message(Role.USER, "Hello")
SHOWN = Message(role=Role.USER, content=(ImagePart("image/png", "AAAA", "cat.png"), TextPart("Who is this?")))


def never() -> bool:
    raise AssertionError("asked although there is no picture")


def test_without_pictures_nobody_asks_whether_the_model_sees() -> None:
    assert leave_out_pictures([PLAIN], never) == [PLAIN]


def test_a_model_that_sees_gets_the_pictures() -> None:
    assert leave_out_pictures([PLAIN, SHOWN], lambda: True) == [PLAIN, SHOWN]


def test_a_model_that_does_not_see_is_told_the_names() -> None:
    plain, told = leave_out_pictures([PLAIN, SHOWN], lambda: False)
    assert plain is PLAIN
    assert "'cat.png'" in told.text
    assert told.text.endswith("\n\nWho is this?")
    assert not any(isinstance(part, ImagePart) for part in told.content)


def test_a_picture_that_a_tool_made_is_told_apart_from_the_words_of_the_result() -> None:
    result = Message(
        role=Role.TOOL, content=(TextPart("Taken"), ImagePart("image/png", "AAAA", "page.png")), tool_call_id="c1"
    )
    (told,) = leave_out_pictures([result], lambda: False)
    assert told.text.startswith("Taken\n[A picture named 'page.png' (image/png) is left out here")
    assert told.tool_call_id == "c1"
