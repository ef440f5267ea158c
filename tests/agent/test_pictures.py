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
