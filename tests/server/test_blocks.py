"""Cutting markdown into blocks while it streams."""

import re
from collections.abc import Sequence

import pytest

from skales.server.blocks import BlockKind, BlockSplitter, BlockStep, Finished, Grew, Opened
from skales.server.markdown import render_markdown

DOCUMENT = """Intro with **bold** text
second line

# Heading
Text after the heading
- item one
  more
- item two

  paragraph in the item
  ```py
  x = 1

  y = 2
  ```
- item three
1. one
2. two
   - nested
   - nested too

    still the second
```python
def f():
    return 1

# no heading
```
> a quote
> more
lazy

| a | b |
|---|---|
| 1 | 2 |

<div>hello</div>
text

<script>
alert(1)

more
</script>

Setext
---

Words before
$$
a
- b
$$
and $$x$$ inside

    indented code

    more

end ``` inline ``` x
***
~~~
tilde
```
~~~
last"""


def run(pieces: Sequence[str]) -> list[BlockStep]:
    """Every step, with neighbouring growth joined."""
    splitter = BlockSplitter()
    joined: list[BlockStep] = []
    for step in [step for piece in pieces for step in splitter.feed(piece)] + splitter.end():
        last = joined[-1] if joined else None
        if isinstance(step, Grew) and isinstance(last, Grew):
            joined[-1] = Grew(last.text + step.text)
        else:
            joined.append(step)
    return joined


def sources(text: str) -> list[str]:
    return [step.source for step in run([text]) if isinstance(step, Finished)]


def flat(html: str) -> str:
    """Without lists' own frames: while streaming each item is a list of its own, tight or loose by itself."""
    return re.sub(r"\s+", "", re.sub(r"</?(ul|ol|p|h\d)[^>]*>", "", html))


def test_blocks_rendered_one_by_one_say_what_the_whole_says() -> None:
    assert flat("".join(render_markdown(source) for source in sources(DOCUMENT))) == flat(render_markdown(DOCUMENT))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 64])
def test_the_steps_do_not_depend_on_how_the_text_arrives(size: int) -> None:
    pieces = [DOCUMENT[start : start + size] for start in range(0, len(DOCUMENT), size)]
    assert run(pieces) == run([DOCUMENT])


def test_no_character_is_lost_but_blank_lines_between_blocks() -> None:
    assert "".join(sources(DOCUMENT)).replace("\n", "") == DOCUMENT.replace("\n", "")


@pytest.mark.parametrize(
    ("text", "opened", "shown"),
    [
        ("Hello", Opened(BlockKind.TEXT), "Hello"),
        ("**Bold** start", Opened(BlockKind.TEXT), "**Bold** start"),
        ("## Title", Opened(BlockKind.HEADING, "2"), "Title"),
        ("- item", Opened(BlockKind.ITEM, "-"), "item"),
        ("12. item", Opened(BlockKind.ITEM, "12."), "item"),
        ("```python\nx", Opened(BlockKind.CODE, "python"), "x"),
        ("~~~\nx", Opened(BlockKind.CODE, ""), "x"),
        ("> said", Opened(BlockKind.QUOTE), "said"),
        ("| a |", Opened(BlockKind.TABLE), "| a |"),
        ("    code", Opened(BlockKind.INDENTED), "    code"),
        ("$$\nx", Opened(BlockKind.MATHS), "$$\nx"),
        ("$5 is little", Opened(BlockKind.TEXT), "$5 is little"),
        ("$$x$$ inline", Opened(BlockKind.TEXT), "$$x$$ inline"),
        ("1984 was a year", Opened(BlockKind.TEXT), "1984 was a year"),
        ("#hashtag", Opened(BlockKind.TEXT), "#hashtag"),
        ("-1 is less", Opened(BlockKind.TEXT), "-1 is less"),
        ("``` not a fence ```", Opened(BlockKind.TEXT), "``` not a fence ```"),
        ("<3 you", Opened(BlockKind.TEXT), "<3 you"),
    ],
)
def test_an_open_block_is_known_by_its_first_characters(text: str, opened: Opened, shown: str) -> None:
    assert run(list(text))[:2] == [opened, Grew(shown)]


@pytest.mark.parametrize(
    "start", ["-", "```", "``", "$", "$$", "\\", "\\[ x", "#", "1", "1.", ">", "<", "*", "  ", "```pyth"]
)
def test_what_may_still_become_a_marker_is_held_back(start: str) -> None:
    splitter = BlockSplitter()
    assert splitter.feed(start) == []
    assert any(isinstance(step, Finished) for step in splitter.end()) is bool(start.strip())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\nb", ["a\n", "b"]),
        ("a\nb\n", ["a\nb\n"]),
        ("a\n# b\nc", ["a\n", "# b\n", "c"]),
        ("a\n- b\n- c", ["a\n", "- b\n", "- c"]),
        ("a\n2. b", ["a\n2. b"]),
        ("a\n1. b", ["a\n", "1. b"]),
        ("- a\n\n  b\n\nc", ["- a\n\n  b\n", "c"]),
        ("- a\nlazy\n\nb", ["- a\nlazy\n", "b"]),
        ("1. a\n```\nx\n```\n2. b", ["1. a\n", "```\nx\n```\n", "2. b"]),
        ("```\na\n\nb", ["```\na\n\nb"]),
        ("````\n```\n````\nx", ["````\n```\n````\n", "x"]),
        ("a\r\n\r\nb\r\n", ["a\r\n", "b\r\n"]),
        ("\n\n\na", ["a"]),
        ("a\n$$\n- b\n= c\n$$\nd", ["a\n", "$$\n- b\n= c\n$$\n", "d"]),
        ("$$x$$\na", ["$$x$$\n", "a"]),
        ("\\[\nx\n\\]\na", ["\\[\nx\n\\]\n", "a"]),
        ("$$\nx\n$$ where\na\n\nb", ["$$\nx\n$$ where\na\n", "b"]),
        ("$$\nx\n```\ny\n\nz\n```", ["$$\nx\n", "```\ny\n\nz\n```"]),
        ("a\n$$x$$ b\nc", ["a\n$$x$$ b\nc"]),
        ("", []),
        ("   \n \n", []),
    ],
)
def test_a_block_ends_where_commonmark_ends_it(text: str, expected: list[str]) -> None:
    assert sources(text) == expected


def test_raw_html_is_never_shown_while_it_streams() -> None:
    steps = run(list("<script>\nalert(1)\n\nstill\n</script>\n\n<b>bold</b> text\n"))
    assert not [step for step in steps if isinstance(step, Grew)]


def test_each_character_costs_the_same_however_long_the_answer_is() -> None:
    """The splitter keeps no more than the open block, so an answer of many blocks never grows inside it."""
    splitter = BlockSplitter()
    longest = 0
    for number in range(2000):
        for step in splitter.feed(f"Paragraph {number} with words.\n\n"):
            longest = max(longest, len(step.source) if isinstance(step, Finished) else 0)
    assert longest < 40
