import pytest

from skales.core.errors import ProviderError, ProviderFault
from skales.providers.sse import EventStreamParser, ServerEvent


def parse(body: bytes, step: int = 0) -> list[tuple[str, str]]:
    parser = EventStreamParser()
    step = step or len(body) or 1
    pieces = [body[start : start + step] for start in range(0, len(body), step)]
    events = [event for piece in pieces for event in parser.feed(piece)]
    return [(event.name, event.data) for event in [*events, *parser.finish()]]


# Examples of the standard, then what endpoints do to it.
STREAMS = {
    "two events": (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
    "carriage returns": (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
    "both": (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
    "mixed line ends": (b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", [("", "a"), ("", "b"), ("", "c")]),
    "several data lines": (b"data: YHOO\ndata: +2\ndata: 10\n\n", [("", "YHOO\n+2\n10")]),
    "comment": (b": test stream\n\ndata: a\n\n", [("", "a")]),
    "comment inside an event": (b"data: a\n: ping\ndata: b\n\n", [("", "a\nb")]),
    "no blank after the colon": (b"data:a\n\n", [("", "a")]),
    "only the first blank goes": (b"data:  a\n\n", [("", " a")]),
    "no colon at all": (b"data\n\ndata\ndata\n\n", [("", ""), ("", "\n")]),
    "colon inside the value": (b'data: {"a":1}\n\n', [("", '{"a":1}')]),
    "named event": (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
    "name without data": (b"event: ping\n\ndata: a\n\n", [("", "a")]),
    "id and retry": (b"id: 7\nretry: 3000\ndata: a\n\n", [("", "a")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
    "byte order mark only at the start": (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", "a")]),
    "no blank line at the end": (b"data: a\n\ndata: b\n", [("", "a"), ("", "b")]),
    "no line end at the end": (b"data: a\n\ndata: [DONE]", [("", "a"), ("", "[DONE]")]),
    "other line separators are text": (
        "data: a\u2028b\u0085c\x0bd\x0ce\u2029f\n\n".encode(),
        [("", "a\u2028b\u0085c\x0bd\x0ce\u2029f")],
    ),
    "characters of several bytes": ("data: Größe 🙂\n\n".encode(), [("", "Größe 🙂")]),
    "broken encoding": (b"data: a\xffb\n\n", [("", "a\ufffdb")]),
    "nothing": (b"", []),
    "blank lines only": (b"\n\r\n\r\r\n", []),
}


@pytest.mark.parametrize("step", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_the_same_events_however_it_is_cut(name: str, step: int) -> None:
    body, expected = STREAMS[name]
    assert parse(body, step) == expected


def test_an_event_is_given_as_soon_as_its_blank_line_came() -> None:
    parser = EventStreamParser()
    assert parser.feed(b"data: a\r\n\r") == [ServerEvent("", "a")]
    assert parser.feed(b"\n") == []
    assert parser.feed(b"") == []
    assert parser.feed(b"data: b\n\n") == [ServerEvent("", "b")]


def test_empty_pieces_between_the_halves_of_a_line_end_change_nothing() -> None:
    parser = EventStreamParser()
    pieces = [b"data: a\r", b"", b"\ndata: b\r", b"\n\r", b"\n"]
    assert [event for piece in pieces for event in parser.feed(piece)] == [ServerEvent("", "a\nb")]


@pytest.mark.parametrize("step", [0, 1])
def test_a_body_that_is_no_event_stream_is_kept_as_stray_text(step: int) -> None:
    body = b'\xef\xbb\xbf{\n  "error": {"message": "no"}\n}'
    parser = EventStreamParser()
    for start in range(0, len(body), step or len(body)):
        assert parser.feed(body[start : start + (step or len(body))]) == []
    assert parser.finish() == []
    assert parser.stray == '{\n  "error": {"message": "no"}\n}'


@pytest.mark.parametrize(
    "body",
    [b"data: " + b"x" * 200, b"data: " + b"x" * 60 + b"\ndata: " + b"y" * 60 + b"\n", b"<html>\n" * 20],
    ids=["one endless line", "many data lines", "stray text"],
)
def test_an_event_beyond_the_limit_is_refused(body: bytes) -> None:
    parser = EventStreamParser(max_event_bytes=100)
    with pytest.raises(ProviderError) as caught:
        parser.feed(body)
    assert caught.value.fault is ProviderFault.BAD_ANSWER


def test_many_events_within_the_limit_are_fine() -> None:
    parser = EventStreamParser(max_event_bytes=100)
    assert len(parser.feed((b"data: " + b"x" * 80 + b"\n\n") * 50)) == 50
