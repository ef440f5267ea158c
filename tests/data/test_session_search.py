import pytest

from skales.core.message import Message, Role, TextPart, text_message
from skales.data.session_search import MessageHit, find_in_messages, read_snippet

FILLER = "so much else to say about nothing in particular "

HISTORY = (
    text_message(Role.SYSTEM, "basil in the instructions"),
    text_message(Role.USER, "Where does BASIL grow?"),
    text_message(Role.ASSISTANT, "Thyme and  basil\n\tgrow in Zürich, on the Straße."),
    text_message(Role.TOOL, "basil.txt"),
    Message(role=Role.USER),
    text_message(Role.ASSISTANT, "東京都に行きます"),
    text_message(Role.USER, "{if (x) return;}"),
)


def found(query: str, limit: int = 99) -> list[tuple[int, list[str]]]:
    hits = find_in_messages(HISTORY, query, limit)
    return [(hit.index, [hit.snippet[start:end] for start, end in hit.spans]) for hit in hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("basil", [(1, ["BASIL"]), (2, ["basil"]), (3, ["basil"])]),
        ("basil grow", [(1, ["BASIL", "grow"]), (2, ["basil", "grow"])]),
        ("asi", [(1, ["ASI"]), (2, ["asi"]), (3, ["asi"])]),
        ("basil sage", []),
        ("ZURICH", [(2, ["Zürich"])]),
        ("Zu\u0308rich", [(2, ["Zürich"])]),
        ("strasse", [(2, ["Straße"])]),
        ('"in zürich"', [(2, ["in Zürich"])]),
        ('"zürich in"', []),
        ("京都", [(5, ["京都"])]),
        ("(x)", [(6, ["(x)"])]),
        ("{if", [(6, ["{if"])]),
        ("basil bas il", [(1, ["BASIL"]), (2, ["basil"]), (3, ["basil"])]),
        ("", []),
        (' "" " ', []),
    ],
)
def test_all_words_of_a_query_are_found_whatever_their_case_and_accents(
    query: str, expected: list[tuple[int, list[str]]]
) -> None:
    assert found(query) == expected


def test_a_hit_says_who_spoke_and_shows_one_line() -> None:
    assert find_in_messages(HISTORY, "thyme basil", 9) == (
        MessageHit(2, Role.ASSISTANT, "Thyme and basil grow in Zürich, on the Straße.", ((0, 5), (10, 15))),
    )
    assert [hit.role for hit in find_in_messages(HISTORY, "basil", 9)] == [Role.USER, Role.ASSISTANT, Role.TOOL]


@pytest.mark.parametrize(("limit", "indices"), [(2, [1, 2]), (1, [1]), (0, []), (-1, [])])
def test_no_more_hits_than_wanted(limit: int, indices: list[int]) -> None:
    assert [index for index, _ in found("basil", limit)] == indices


@pytest.mark.parametrize("sign", ["", "ü"], ids=["ascii", "not ascii"])
def test_the_snippet_of_a_long_message_is_cut_around_the_first_match(sign: str) -> None:
    message = text_message(Role.USER, sign + FILLER * 99 + "needle and needles " + FILLER * 99 + "needle")
    (hit,) = find_in_messages((message,), "needle", 9)
    assert len(hit.snippet) == 302
    assert (hit.snippet[0], hit.snippet[-1]) == ("…", "…")
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["needle", "needle"]
    assert hit.spans[0] == (101, 107)


def test_a_match_longer_than_the_snippet_is_cut_with_it() -> None:
    (hit,) = find_in_messages((text_message(Role.USER, "x" * 5000),), "x" * 4000, 9)
    assert (hit.snippet, hit.spans) == ("x" * 300 + "…", ((0, 300),))


def test_words_that_only_meet_across_an_accent_are_a_hit_without_a_place() -> None:
    # The folded whole orders its marks otherwise than its letters one by one do.
    text = "a\u05b4\u05b0\u00fc"
    (hit,) = find_in_messages((text_message(Role.USER, text),), "\u05b0\u05b4", 9)
    assert (hit.snippet, hit.spans) == (text, ())


def test_signs_that_mark_matches_are_no_marks_when_a_message_holds_them() -> None:
    message = Message(role=Role.USER, content=(TextPart("a\x02b\x03 basil \x02"),))
    assert find_in_messages((message,), "basil", 9) == (MessageHit(0, Role.USER, "a b basil", ((4, 9),)),)


def test_a_line_without_a_mark_is_shown_from_its_start() -> None:
    assert read_snippet("word " * 100) == ("word " * 60 + "…", ())
