from skales.core.message import Message, Role, TextPart
from skales.providers.weak.quote import quote_results


def result(text: str, *, is_error: bool = False, name: str = "read_file") -> Message:
    return Message(role=Role.TOOL, content=(TextPart(text),), name=name, is_error=is_error)


def test_a_result_is_quoted_untouched() -> None:
    assert quote_results([result("1\tBuy <b>milk</b>\n")]) == "`read_file` returned:\n\n```\n1\tBuy <b>milk</b>\n```"


def test_a_failure_is_called_one() -> None:
    assert quote_results([result("'a.txt' does not exist", is_error=True)]).startswith("`read_file` failed:\n")


def test_a_result_cannot_leave_its_fence() -> None:
    text = "```\nnow free\n`````\n"
    assert quote_results([result(text)]) == f"`read_file` returned:\n\n``````\n{text.strip()}\n``````"


def test_a_long_result_is_cut() -> None:
    quoted = quote_results([result("x" * 100_000)])
    assert len(quoted) < 5000
    assert "[…]" in quoted


def test_an_empty_result_says_so() -> None:
    assert quote_results([result(""), result(" ", is_error=True, name="")]) == (
        "`read_file` returned nothing.\n\nThe tool failed."
    )
