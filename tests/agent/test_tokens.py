"""The token estimate: near what OpenAI's vocabulary gives, by script; counted once; corrected by what endpoints say."""

from dataclasses import replace

import pytest

from skales.agent.tokens import CountedHistory, HistoryCounts, TokenScale, count_message, count_text, count_tool
from skales.core.ids import SessionId
from skales.core.message import FilePart, ImagePart, Message, Role, TextPart, text_message
from skales.core.tool import Safety, ToolCall
from tests.agent.conftest import spec

# Counted once with o200k_base, the vocabulary of OpenAI's models since GPT-4o.
SAMPLES = {
    "english": ("The committee talked about tents, lamps and music for a long while, and decided nothing.", 18),
    "german": ("Der Ausschuss sprach lange über Zelte, Lampen und Musik und beschloss am Ende gar nichts.", 21),
    "russian": ("Комитет долго говорил о палатках, лампах и музыке и в конце концов ничего не решил.", 23),
    "chinese": ("委员会花了很长时间讨论帐篷、灯和音乐，最后什么也没有决定。", 21),
    "japanese": ("委員会はテントとランプと音楽について長い間話し合いましたが、何も決まりませんでした。", 29),
    "korean": ("위원회는 천막과 등불과 음악에 대해 오랫동안 이야기했지만 아무것도 결정하지 못했다.", 26),
    "code": ("def count(values: list[int]) -> int:\n    return sum(1 for value in values if value > 0)\n", 25),
    "json": ('{"name": "read_file", "arguments": {"path": "notes/2026-11-30.md", "limit": 200}}', 30),
    "numbers": ("1048576, 65536, 4096, 271828, 314159, 161803, 299792, 602214", 31),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_estimate_is_within_a_third_of_a_real_count(name: str) -> None:
    text, tokens = SAMPLES[name]
    assert tokens * 0.66 <= count_text(text) <= tokens * 1.34


@pytest.mark.parametrize("text", ["", "a", "\ud800", "👍👍", "\x00\x01", "ไทย", "हिन्दी", "ערבית"])
def test_any_text_can_be_counted(text: str) -> None:
    assert 0 <= count_text(text) <= 4 * len(text)


def test_everything_a_message_carries_counts() -> None:
    plain = text_message(Role.ASSISTANT, "word " * 50)
    size = count_message(plain)
    assert count_message(replace(plain, reasoning="word " * 50)) > 1.8 * size
    assert count_message(replace(plain, tool_calls=(ToolCall("c", "read_file", {"path": "x" * 200}),))) > size + 40
    assert count_message(replace(plain, content=(*plain.content, FilePart("a", "", 1, "word " * 50)))) > 1.8 * size


def test_a_picture_counts_only_for_a_model_that_sees_it() -> None:
    message = Message(role=Role.USER, content=(ImagePart("image/png", "A" * 9_000), TextPart("What?")))
    assert count_message(message, sees=True) > 1_500
    assert count_message(message, sees=False) < 100


def test_a_tool_counts_with_its_parameters() -> None:
    assert count_tool(spec("read", Safety.AUTO, path="path", other="uri")) > count_tool(spec("read", Safety.AUTO))


# --- histories ---

MESSAGES = tuple(text_message(Role.USER, "word " * number) for number in range(1, 9))


def test_sums_are_those_of_the_messages() -> None:
    counted = CountedHistory()
    counted.look(MESSAGES)
    assert counted.between(0) == sum(map(count_message, MESSAGES))
    assert counted.between(2, 5) == sum(map(count_message, MESSAGES[2:5]))
    assert counted.between(8) == 0


@pytest.mark.parametrize("room", [0, 5, 20, 60, 10_000])
def test_the_first_start_is_where_what_follows_is_small_enough(room: int) -> None:
    counted = CountedHistory()
    counted.look(MESSAGES)
    start = counted.first_start(room)
    assert counted.between(start) <= room
    assert start == 0 or counted.between(start - 1) > room


@pytest.mark.parametrize(
    "after",
    [
        (*MESSAGES, text_message(Role.USER, "more")),
        MESSAGES[:3],
        (*MESSAGES[:3], text_message(Role.USER, "another way"), text_message(Role.USER, "on")),
        tuple(map(replace, MESSAGES)),
        (),
    ],
    ids=["grown", "cut", "rewound", "read anew", "emptied"],
)
def test_a_history_that_changed_has_the_sums_of_what_it_is_now(after: tuple[Message, ...]) -> None:
    counted, fresh = CountedHistory(), CountedHistory()
    counted.look(MESSAGES)
    counted.look(after)
    fresh.look(after)
    assert [counted.between(index) for index in range(len(after) + 1)] == [
        fresh.between(index) for index in range(len(after) + 1)
    ]


def test_the_histories_looked_at_last_are_kept() -> None:
    counts = HistoryCounts()
    first = counts.of(SessionId("session_0"), MESSAGES, sees=True)
    assert counts.of(SessionId("session_0"), MESSAGES, sees=True) is first
    assert counts.of(SessionId("session_0"), MESSAGES, sees=False) is not first
    for number in range(1, 40):
        counts.of(SessionId(f"session_{number}"), MESSAGES, sees=True)
    assert counts.of(SessionId("session_0"), MESSAGES, sees=True) is not first


# --- what endpoints count ---


def test_before_an_endpoint_has_counted_the_family_of_the_model_decides() -> None:
    scale = TokenScale()
    assert scale.factor("openai", "gpt-5.5") == 1.0
    assert scale.factor("openrouter", "anthropic/Claude-Opus-4") > scale.factor("mistral", "mistral-large") > 1.0


def test_the_first_count_replaces_the_guess_and_later_ones_move_it() -> None:
    scale = TokenScale()
    scale.learn("custom", "m", estimated_tokens=1_000, counted_tokens=1_500)
    assert scale.factor("custom", "m") == 1.5
    scale.learn("custom", "m", estimated_tokens=1_000, counted_tokens=1_000)
    assert 1.0 < scale.factor("custom", "m") < 1.5
    assert scale.factor("other", "m") == TokenScale().factor("other", "m")


@pytest.mark.parametrize(("estimated", "counted"), [(100, 120), (1_000, 10), (1_000, 0), (1_000, 9_000)])
def test_a_count_that_is_small_or_not_plausible_teaches_nothing(estimated: int, counted: int) -> None:
    scale = TokenScale()
    scale.learn("custom", "m", estimated_tokens=estimated, counted_tokens=counted)
    assert scale.factor("custom", "m") == TokenScale().factor("custom", "m")
