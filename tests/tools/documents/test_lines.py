import random

from skales.tools.documents.lines import Window, cut_lines


def expected(text: str, window: Window) -> tuple[list[str], int]:
    """The window by its definition, on a text held whole."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    shown: list[str] = []
    length = 0
    for line in lines[window.start - 1 :][: window.count]:
        skipped = window.column - 1 if not shown else 0
        piece = line[skipped:][: window.limit if skipped else min(window.line_limit, window.limit)]
        if shown and length + len(piece) > window.limit:
            break
        shown.append(piece)
        length += len(piece) + 1
    return shown, len(lines)


def test_a_window_is_the_same_however_the_text_is_broken_into_pieces() -> None:
    source = random.Random(1)
    for _ in range(3000):
        words = ["a", "b\n", "\n", "\n", "x" * source.randint(0, 12)]
        text = "".join(source.choice(words) for _ in range(source.randint(0, 30)))
        window = Window(
            start=source.randint(1, 6),
            count=source.randint(1, 6),
            column=source.randint(1, 4),
            limit=source.randint(5, 20),
            line_limit=source.randint(3, 8),
        )
        cuts = sorted(source.randint(0, len(text)) for _ in range(source.randint(0, 5)))
        pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        lines, total = expected(text, window)
        counted = cut_lines(pieces, window, count_all=True)
        assert (counted.lines, counted.total) == (lines, total), (text, window)
        stopped = cut_lines(pieces, window, count_all=False)
        has_more = total > window.start + len(lines) - 1
        assert (stopped.lines, stopped.has_more, counted.has_more) == (lines, has_more, has_more), (text, window)
