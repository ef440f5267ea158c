"""The costs page and its neighbours over HTTP: sums, unknown prices, ceilings, the file, the route, the receipt."""

import csv
import io

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.ids import SessionId
from skales.core.message import Message, Role, TextPart, Usage, text_message
from skales.data.ledger import LedgerEntry
from skales.server.ui.phrases import show_usd
from tests.server.ui.conftest import Look

DAY_MS = 86_400_000


def record(  # noqa: PLR0913 - what differs from call to call
    app: App,
    cost_usd: float | None,
    *,
    model: str = "gpt-5.5",
    provider: str = "openai",
    session_id: str = "",
    purpose: str = "chat",
    days_ago: int = 0,
    estimated: bool = False,
) -> None:
    app.ledger.record(
        LedgerEntry(
            when_ms=app.clock.now_ms() - days_ago * DAY_MS,
            session_id=session_id,
            provider=provider,
            model=model,
            purpose=purpose,
            input_tokens=1_000,
            cached_tokens=0,
            output_tokens=50,
            cost_usd=cost_usd,
            estimated_tokens=estimated,
        )
    )


def texts(tree: HTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ").split()) for node in tree.css(selector)]


def table(tree: HTMLParser, heading: str) -> dict[str, tuple[str, str]]:
    """Names to amounts and to the width of their bars."""
    (section,) = [found for found in tree.css("section") if found.css("h2") and found.css("h2")[0].text() == heading]
    return {
        " ".join(row.css("th")[0].text(separator=" ").split()): (
            row.css("td")[0].text(),
            str(row.css("rect")[0].attributes["width"]),
        )
        for row in section.css("tbody tr")
    }


def test_without_calls_the_page_says_what_will_be_there(look: Look) -> None:
    tree = look("/costs")
    assert texts(tree, ".empty-state h2") == ["No model was asked in this time"]
    assert texts(tree, ".cost-period strong") == ["0 USD"] * 3
    assert not tree.css("table")
    assert not tree.css("a[download]")


def test_the_tiles_count_today_a_week_and_a_month(look: Look, app: App) -> None:
    for days_ago, cost in ((0, 1.0), (3, 0.5), (20, 0.25), (50, 100.0)):
        record(app, cost, days_ago=days_ago)
    tree = look("/costs")
    assert texts(tree, ".cost-period") == [
        "Today 1 USD 1 call",
        "Last 7 days 1.50 USD 2 calls",
        "Last 30 days 1.75 USD 3 calls",
    ]
    assert texts(tree, ".cost-period[aria-current]") == ["Last 30 days 1.75 USD 3 calls"]
    assert "estimated from list prices" in texts(tree, ".cost-note")[0]


def test_a_time_shows_its_own_tables_and_an_unknown_one_the_usual(look: Look, app: App) -> None:
    record(app, 1.0)
    record(app, 3.0, model="gpt-5.4-mini", days_ago=3)
    today = look("/costs?days=1")
    assert list(table(today, "By model")) == ["gpt-5.5 (OpenAI) 1 call, 1,000 tokens in, 50 out"]
    assert len(table(look("/costs?days=9999"), "By model")) == 2


def test_calls_are_listed_by_everything_with_bars_that_compare(look: Look, app: App) -> None:
    session = app.sessions.create(title="<b>Trip</b>").id
    record(app, 3.0, session_id=session)
    record(app, 0.75, model="claude", provider="anthropic", session_id="session_gone", purpose="title")
    record(app, 0.0001, model="tiny", purpose="strange")
    record(app, 0.0, model="qwen", provider="skales_local", purpose="probe")
    tree = look("/costs")
    facts = "1 call, 1,000 tokens in, 50 out"
    assert table(tree, "By model") == {
        f"gpt-5.5 (OpenAI) {facts}": ("3 USD", "100%"),
        f"claude (Anthropic) {facts}": ("0.75 USD", "25%"),
        f"tiny (OpenAI) {facts}": ("0.0001 USD", "1%"),
        f"qwen (Skales Local) {facts}": ("0 USD", "0%"),
    }
    assert [name.split(" 1 call")[0] for name in table(tree, "By purpose")] == [
        "Answers in chats",
        "Titles",
        "strange",
        "Trying what a model can do",
    ]
    assert [name.split(" 1 call")[0].split(" 2 calls")[0] for name in table(tree, "By conversation")] == [
        "<b>Trip</b>",
        "A deleted conversation (session_gone)",
        "Outside of conversations",
    ]
    assert [link.attributes["href"] for link in tree.css("tbody a")] == [f"/chat/{session}"]
    assert len(table(tree, "By day")) == 1


def test_a_conversation_without_a_title_has_a_name(look: Look, app: App) -> None:
    record(app, 1.0, session_id=app.sessions.create().id)
    assert next(iter(table(look("/costs"), "By conversation"))).startswith("New chat")


def test_long_tables_are_cut_and_say_so(look: Look, app: App) -> None:
    for number in range(17):
        record(app, 1.0 + number, model=f"model-{number}")
    tree = look("/costs")
    assert len(table(tree, "By model")) == 15
    assert "2 more are in the sums above." in tree.text()


def test_unknown_prices_are_named_and_never_zero(look: Look, app: App) -> None:
    record(app, 1.0)
    record(app, None)
    for number in range(6):
        record(app, None, model=f"odd-{number}", provider="custom_lab", estimated=True)
    tree = look("/costs")
    assert table(tree, "By provider") == {
        "OpenAI 2 calls, 2,000 tokens in, 100 out, 1 without a known price": ("1 USD", "100%"),
        "lab 6 calls, 6,000 tokens in, 300 out": ("unknown", "0%"),
    }
    assert texts(tree, ".callout.warn") == [
        "7 calls are in no sum and under no ceiling, because no price is known for gpt-5.5 (OpenAI), odd-0 (lab), "
        "odd-1 (lab), odd-2 (lab), odd-3 (lab), others."
    ]
    assert "The endpoints told no tokens for 6 calls" in texts(tree, ".cost-note")[0]


def test_ceilings_are_shown_as_they_stand(look: Look, app: App) -> None:
    assert texts(look("/costs"), ".cost-ceilings dl > div") == ["Conversations 5 USD each", "Today No ceiling"]
    app.settings.set_value("sessionBudgetUsd", "0")
    app.settings.set_value("dailyBudgetUsd", "4")
    app.spending.add(SessionId(""), 1)
    tree = look("/costs")
    assert texts(tree, ".cost-ceilings dl > div") == ["Conversations No ceiling", "Today 1 USD of 4 USD"]
    assert tree.css(".cost-ceilings rect")[0].attributes["width"] == "25%"
    assert tree.css(".cost-ceilings a")[0].attributes["href"] == "/settings#setting-sessionBudgetUsd"
    assert look("/settings").css("#setting-sessionBudgetUsd")


def test_the_file_holds_every_call_and_no_formula(page: TestClient, app: App) -> None:
    record(app, 0.5, model="=HYPERLINK(1)", session_id="session_1")
    record(app, None, estimated=True)
    record(app, 1.0, days_ago=3)
    answer = page.get("/ui/costs/export?days=1")
    assert answer.headers["content-disposition"].startswith('attachment; filename="skales-costs-')
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(row["model"], row["tokens_estimated"], row["cost_usd_estimated"]) for row in rows] == [
        ("'=HYPERLINK(1)", "no", "0.50000000"),
        ("gpt-5.5", "yes", "unknown"),
    ]
    assert len(list(csv.DictReader(io.StringIO(page.get("/ui/costs/export?days=5").text)))) == 3


def test_programs_ask_for_the_same_sums(client: TestClient, app: App) -> None:
    record(app, 0.5)
    assert client.get("/api/costs").status_code == 401
    headers = {"authorization": f"Bearer {app.local_token}"}
    answer = client.get("/api/costs?since=7d&by=purpose", headers=headers).json()
    assert [(row["name"], row["costUsd"]) for row in answer["rows"]] == [("chat", 0.5)]
    assert client.get("/api/costs?by=colour", headers=headers).status_code == 400


@pytest.mark.parametrize(
    ("provider", "model", "cost"),
    [("openai", "gpt-5.5", "0.0065 USD"), ("custom_lab", "odd", "unknown"), ("skales_local", "qwen", "0 USD")],
)
def test_a_receipt_says_what_the_answer_cost(look: Look, app: App, provider: str, model: str, cost: str) -> None:
    session_id = app.sessions.create().id
    answer = Message(
        role=Role.ASSISTANT, content=(TextPart("Yes"),), provider=provider, model=model, usage=Usage(1_000, 50)
    )
    app.sessions.append(session_id, text_message(Role.USER, "Well?"), answer)
    rows = {row.css("th")[0].text(): row.css("td")[0].text() for row in look(f"/chat/{session_id}").css(".receipt tr")}
    assert rows["Estimated cost"] == cost


def test_a_receipt_without_tokens_says_nothing_of_costs(look: Look, app: App) -> None:
    session_id = app.sessions.create().id
    answer = Message(role=Role.ASSISTANT, content=(TextPart("Yes"),), provider="openai", model="gpt-5.5")
    app.sessions.append(session_id, text_message(Role.USER, "Well?"), answer)
    assert "Estimated cost" not in look(f"/chat/{session_id}").text()


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "0 USD"),
        (0.00001, "under 0.0001 USD"),
        (0.0123, "0.0123 USD"),
        (0.5, "0.50 USD"),
        (5, "5 USD"),
        (1234.5, "1,234.50 USD"),
    ],
)
def test_amounts_have_as_many_places_as_they_need(amount: float, words: str) -> None:
    assert show_usd(amount) == words


@pytest.mark.parametrize(("typed", "kept"), [("2,5", 2.5), ("2.50", 2.5), ("0", 0.0), ("100000", 100_000.0)])
def test_a_ceiling_may_have_cents(page: TestClient, app: App, typed: str, kept: float) -> None:
    page.post("/ui/settings/values/sessionBudgetUsd", data={"value": typed, "was": ""})
    assert app.settings.load().session_budget_usd == kept


@pytest.mark.parametrize("typed", ["", "-1", "1.2.3", "1e3", "²", "100001", "five"])
def test_what_is_no_amount_is_not_kept(page: TestClient, app: App, typed: str) -> None:
    answer = page.post("/ui/settings/values/sessionBudgetUsd", data={"value": typed, "was": ""})
    assert "Write a number from 0 to 100000" in answer.text
    assert app.settings.load().session_budget_usd == 5


def test_a_slot_of_ones_own_is_called_what_the_person_calls_it(look: Look, app: App) -> None:
    slot = {"label": "Lab", "baseUrl": "http://127.0.0.1:9/v1"}
    app.settings.update(lambda raw: raw.update(providers={"custom_x": slot}))
    record(app, None, provider="custom_x", model="m")
    page = " ".join(look("/costs").body.text().split())  # type: ignore[union-attr]
    assert "m (Lab)" in page
    assert "m (x)" not in page
