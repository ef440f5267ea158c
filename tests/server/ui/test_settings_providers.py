"""The providers page against the real app: cards, keys that never come back, the order, endpoints of one's own."""

import json
from collections.abc import Iterator
from html import unescape

import pytest
from selectolax.lexbor import LexborHTMLParser as HTMLParser
from starlette.testclient import TestClient

from skales.app.app import App
from skales.core.json import JsonValue
from skales.data.endpoints import mask_key
from skales.data.paths import DataDirectory
from skales.providers.catalog import load_catalog
from skales.server.ui.provider_keys import looks_masked
from tests.server.ui.conftest import Look
from tests.servers.echo_model import EchoModel

HTMX = {"hx-request": "true"}
KEY = "sk-test-0123456789abcdefghijklmnopqrstuv"


@pytest.fixture
def model() -> Iterator[EchoModel]:
    with EchoModel() as running:
        yield running


def post(page: TestClient, path: str, /, **data: str) -> HTMLParser:
    answer = page.post(f"/ui/settings/{path}", data=data, headers=HTMX)
    assert answer.status_code in (200, 204), answer.text
    return HTMLParser(answer.text or "<p></p>")


def press(page: TestClient, button: object) -> HTMLParser:
    """What a button of the page would send."""
    attributes = button.attributes  # type: ignore[attr-defined]
    data = json.loads(unescape(str(attributes.get("hx-vals") or "{}")))
    return HTMLParser(page.post(str(attributes["hx-post"]), data=data, headers=HTMX).text)


def providers_of(home: DataDirectory) -> dict[str, dict[str, JsonValue]]:
    raw = json.loads(home.settings.read_text(encoding="utf-8")) if home.settings.exists() else {}
    return raw.get("providers", {})  # type: ignore[no-any-return]


def is_told(shown: HTMLParser) -> bool:
    return shown.css_first('[role="alert"]') is not None


def test_every_provider_of_the_catalogue_has_a_card_the_one_that_answers_first(look: Look, app: App) -> None:
    shown = [str(node.id) for node in look("/settings/providers").css("details.provider[id]")]
    assert shown[0] == f"provider-{app.settings.load().active_provider}"
    assert set(shown) == {f"provider-{name}" for name in load_catalog()}


@pytest.mark.parametrize(
    ("asked", "there", "gone"),
    [
        ("show=local", "ollama", "openai"),
        ("show=vision", "anthropic", "deepseek"),
        ("show=voice", "groq", "anthropic"),
        ("show=generative", "google", "groq"),
        ("q=deep", "deepseek", "openai"),
        ("q=DEÉP", "deepseek", "openai"),
        ("show=nonsense", "openai", "nobody"),
    ],
)
def test_cards_are_filtered_and_searched(look: Look, asked: str, there: str, gone: str) -> None:
    tree = look(f"/settings/providers?{asked}")
    assert tree.css_first(f"#provider-{there}") is not None
    assert tree.css_first(f"#provider-{gone}") is None


# --- keys ---


def test_a_key_is_kept_and_no_page_ever_shows_it(page: TestClient, app: App) -> None:
    saved = page.post("/ui/settings/providers/openai/key", data={"api_key": f" {KEY}\n"}, headers=HTMX).text
    assert app.settings.load().provider("openai").api_key == KEY
    for text in (saved, page.get("/settings").text, page.get("/settings/providers").text, page.get("/chat").text):
        assert KEY not in text
    assert mask_key(KEY) in saved


def test_a_key_cannot_be_read_or_put_back_as_a_value(page: TestClient, app: App) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    for address in ("values/providers.openai.apiKey", "undo/providers.openai.apiKey"):
        answer = page.post(f"/ui/settings/{address}", data={"value": "x", "former": '"x"'}, headers=HTMX)
        assert answer.status_code == 404
    assert page.get("/ui/settings/values/providers.openai.apiKey").status_code == 404
    assert app.settings.load().provider("openai").api_key == KEY


MASKS = [
    mask_key(KEY),
    "sk-•••stuv",
    "•••",
    "••••••••••••",
    "●●●●●●●●",
    "sk-…stuv",
    "…stuv",
    "sk-...stuv",
    "...",
    "sk-***stuv",
    "**",
    "********",
    "sk-****************************stuv",
    "xxxxxxxx",
    "sk-XXXXXXXXstuv",
    "--------",
    "________",
    "########",
    "sk-stuv",
    "sk-····stuv",
    "stuv",
    "[redacted]",
    "<hidden>",
    "(unchanged)",
    "REDACTED",
    "your-api-key",
    "YOUR_API_KEY_HERE",
    "enc:v1:abcdef",
    "sk-test 0123",
    "sk-tést",
]


@pytest.mark.parametrize("mask", MASKS)
def test_no_shape_of_a_mask_ever_replaces_a_key(page: TestClient, app: App, mask: str) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    assert is_told(post(page, "providers/openai/key", api_key=mask))
    assert app.settings.load().provider("openai").api_key == KEY


@pytest.mark.parametrize("mask", [mask for mask in MASKS if mask not in ("sk-stuv", "stuv")])
def test_no_shape_of_a_mask_becomes_a_first_key(page: TestClient, home: DataDirectory, mask: str) -> None:
    assert is_told(post(page, "providers/groq/key", api_key=mask))
    assert "apiKey" not in providers_of(home).get("groq", {})


@pytest.mark.parametrize(
    "key", [KEY, "ollama", "secret", "eyJhbGciOi.J9..iv.text.tag", "AIzaSyA-1_2__3--4", "nvapi-" + "aB3_" * 16, "12345"]
)
def test_real_keys_are_no_masks(key: str) -> None:
    assert not looks_masked(key, "")


def test_an_empty_field_leaves_the_key_alone_and_forgetting_waits_for_a_yes(page: TestClient, app: App) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    post(page, "providers/openai/key", api_key="  ")
    asked = post(page, "providers/openai/key", forget="ask")
    assert app.settings.load().provider("openai").api_key == KEY
    press(page, asked.css_first(".callout [hx-post]"))
    assert app.settings.load().provider("openai").api_key == ""


def test_a_provider_without_keys_takes_none(page: TestClient) -> None:
    assert page.post("/ui/settings/providers/skales_local/key", data={"forget": "ask"}, headers=HTMX).status_code == 400


# --- rows ---


def test_the_row_of_a_provider_saves_and_is_undone(page: TestClient, home: DataDirectory) -> None:
    shown = post(page, "values/providers.openai.model", was="", value=" any/model:id ")
    assert providers_of(home)["openai"]["model"] == "any/model:id"
    press(page, shown.css_first("[data-put-back]"))
    assert "model" not in providers_of(home)["openai"]


def test_a_bad_address_is_refused_and_its_password_never_comes_back(page: TestClient, home: DataDirectory) -> None:
    for address in ("http://example.org/v1", "ftp://127.0.0.1", "http://169.254.169.254/v1", "https://host/v1?key=1"):
        assert is_told(post(page, "values/providers.custom.baseUrl", was="", value=address))
    assert providers_of(home) == {}


def test_switching_off_keeps_the_key_and_the_one_that_answers_stays_on(page: TestClient, app: App) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    post(page, "values/providers.openai.enabled", was="")
    own = app.settings.load().provider("openai")
    assert (own.enabled, own.api_key) == (False, KEY)
    assert is_told(post(page, "values/providers.skales_local.enabled", was=""))
    assert app.settings.load().provider("skales_local").enabled


@pytest.mark.parametrize("provider_id", ["skales_iq", "openai_oauth"])
def test_what_starts_off_says_why_and_is_on_only_in_so_many_words(
    page: TestClient, look: Look, app: App, provider_id: str
) -> None:
    card = look(f"/settings/providers?open={provider_id}").css_first(f"#provider-{provider_id}")
    assert card is not None
    assert card.css_first(".callout p").text().strip()  # type: ignore[union-attr]
    assert card.css_first('[role="switch"][checked]') is None
    post(page, f"values/providers.{provider_id}.enabled", was="", value="true")
    assert app.settings.load().provider(provider_id).is_chosen()


def test_an_account_id_is_asked_where_the_address_needs_one(page: TestClient, home: DataDirectory) -> None:
    name = "providers.cloudflare_workers_ai.accountId"
    assert is_told(post(page, f"values/{name}", was="", value="a/../b"))
    post(page, f"values/{name}", was="", value="0123abcd")
    assert providers_of(home)["cloudflare_workers_ai"]["accountId"] == "0123abcd"


@pytest.mark.parametrize("provider_id", [name for name, entry in load_catalog().items() if entry.other_base_urls])
def test_an_endpoint_of_the_catalogue_can_be_chosen(page: TestClient, app: App, look: Look, provider_id: str) -> None:
    row = look(f"/settings/providers?open={provider_id}").css_first(f"#setting-providers-{provider_id}-endpoint")
    assert row is not None
    values = [str(option.attributes["value"]) for option in row.css("option")]
    assert len(values) >= 2
    post(page, f"values/providers.{provider_id}.endpoint", was="", value=values[-1])
    assert app.settings.load().provider(provider_id).endpoint == values[-1]


# --- who answers ---


def test_only_what_is_set_up_can_answer(page: TestClient, app: App) -> None:
    assert page.post("/ui/settings/providers/openai/activate", headers=HTMX).status_code == 400
    assert page.post("/ui/settings/providers/nobody/activate", headers=HTMX).status_code in (400, 404)
    assert app.settings.load().active_provider == "skales_local"


def test_another_one_answers_and_that_can_be_undone(page: TestClient, app: App) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    shown = post(page, "providers/openai/activate")
    assert app.settings.load().active_provider == "openai"
    press(page, shown.css_first("#setting-activeProvider [data-put-back]"))
    assert app.settings.load().active_provider == "skales_local"


def test_a_provider_that_is_off_cannot_be_chosen(page: TestClient, app: App) -> None:
    post(page, "providers/openai/key", api_key=KEY)
    post(page, "values/providers.openai.enabled", was="")
    assert is_told(post(page, "values/activeProvider", was="", value="openai"))
    assert app.settings.load().active_provider == "skales_local"


def order_of(app: App) -> list[str]:
    return [f"{item.provider}/{item.model}" for item in app.settings.load().fallback_providers]


def change_order(page: TestClient, app: App, **wanted: str) -> HTMLParser:
    tree = HTMLParser(page.get("/settings/providers").text)
    was = tree.css_first('#fallbacks [name="was"]').attributes["value"]  # type: ignore[union-attr]
    return post(page, "fallbacks", was=str(was), **wanted)


def test_the_order_is_added_to_moved_shortened_and_undone(page: TestClient, app: App) -> None:
    for model in ("a", "b", "c"):
        change_order(page, app, action="add", provider="skales_local", model=model)
    change_order(page, app, action="up", number="2")
    assert order_of(app) == ["skales_local/a", "skales_local/c", "skales_local/b"]
    change_order(page, app, action="down", number="0")
    shown = change_order(page, app, action="remove", number="1")
    assert order_of(app) == ["skales_local/c", "skales_local/b"]
    press(page, shown.css_first("[data-put-back]"))
    assert order_of(app) == ["skales_local/c", "skales_local/a", "skales_local/b"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"action": "add", "provider": "nobody", "model": "x"},
        {"action": "add", "provider": "openai", "model": "x"},
        {"action": "add", "provider": "skales_local", "model": "a"},
        {"action": "up", "number": "7"},
        {"action": "down", "number": "-1"},
        {"action": "explode", "number": "0"},
    ],
)
def test_what_makes_no_order_is_refused(page: TestClient, app: App, wanted: dict[str, str]) -> None:
    change_order(page, app, action="add", provider="skales_local", model="a")
    assert is_told(change_order(page, app, **wanted))
    assert order_of(app) == ["skales_local/a"]


def test_an_order_edited_by_hand_is_not_overwritten(page: TestClient, app: App, home: DataDirectory) -> None:
    home.settings.write_text('{"fallbackProviders": ["ollama/llama3.2"]}', encoding="utf-8")
    assert is_told(post(page, "fallbacks", was="", action="add", provider="skales_local", model="a"))
    assert order_of(app) == ["ollama/llama3.2"]


# --- sizes of single models ---


def change_limits(page: TestClient, provider_id: str = "openai", **wanted: str) -> HTMLParser:
    tree = HTMLParser(page.get(f"/ui/settings/providers/{provider_id}/card").text)
    was = tree.css_first(f'#limits-{provider_id} [name="was"]').attributes["value"]  # type: ignore[union-attr]
    return post(page, f"providers/{provider_id}/limits", was=str(was or ""), **wanted)


def rows_of(shown: HTMLParser) -> list[list[str]]:
    return [[cell.text(strip=True) for cell in row.css("th, td")[:3]] for row in shown.css("form tbody tr")]


def test_sizes_are_added_count_at_once_and_are_shown_all_models_first(page: TestClient, app: App) -> None:
    change_limits(page, action="add", model="gpt-5.5", context="200,000", output="4096")
    shown = change_limits(page, action="add", model="*", context="", output="900")
    assert rows_of(shown) == [["All models*", "–", "900"], ["gpt-5.5", "200,000", "4,096"]]
    own, other = (app.models.facts("openai", name) for name in ("gpt-5.5", "gpt-5.4-nano"))
    assert (own.context_tokens, own.output_cap_tokens) == (200_000, 4_096)
    assert (other.context_tokens, other.output_cap_tokens) == (400_000, 900)


def test_a_row_is_replaced_removed_and_put_back(page: TestClient, app: App, home: DataDirectory) -> None:
    change_limits(page, action="add", model="gpt-5.5", context="200000")
    change_limits(page, action="add", model="gpt-5.5", output="500")
    assert providers_of(home)["openai"] == {"models": {"gpt-5.5": {"outputTokens": 500}}}
    shown = change_limits(page, action="remove", row="gpt-5.5", model="typed below")
    assert providers_of(home)["openai"] == {}
    press(page, shown.css_first("[data-put-back]"))
    assert providers_of(home)["openai"] == {"models": {"gpt-5.5": {"outputTokens": 500}}}


def test_other_words_about_a_model_stay(page: TestClient, home: DataDirectory) -> None:
    models: dict[str, JsonValue] = {"m": {"vision": True, "mine": 1, "contextTokens": 9}, "n": {"tools": False}}
    home.settings.write_text(json.dumps({"providers": {"openai": {"models": models}}}), encoding="utf-8")
    assert len(rows_of(change_limits(page, action="add", model="n", context="7"))) == 2
    change_limits(page, action="remove", row="m")
    change_limits(page, action="remove", row="n")
    kept = providers_of(home)["openai"]["models"]
    assert kept == {"m": {"vision": True, "mine": 1}, "n": {"tools": False}}


@pytest.mark.parametrize(
    "wanted",
    [
        {"action": "add", "model": "", "context": "1"},
        {"action": "add", "model": "x" * 201, "context": "1"},
        {"action": "add", "model": "a\nb", "context": "1"},
        {"action": "add", "model": "m"},
        {"action": "add", "model": "m", "context": "0"},
        {"action": "add", "model": "m", "context": "-5"},
        {"action": "add", "model": "m", "context": "many"},
        {"action": "add", "model": "m", "output": "100000001"},
        {"action": "add", "model": "m", "output": "9" * 5_000},
        {"action": "remove", "row": "m"},
        {"action": "explode", "model": "m", "context": "1"},
    ],
)
def test_what_makes_no_size_is_refused(page: TestClient, home: DataDirectory, wanted: dict[str, str]) -> None:
    assert is_told(change_limits(page, **wanted))
    assert "openai" not in providers_of(home)


def test_sizes_edited_by_hand_are_not_overwritten(page: TestClient, home: DataDirectory) -> None:
    models = {"m": {"contextTokens": 9}}
    home.settings.write_text(json.dumps({"providers": {"openai": {"models": models}}}), encoding="utf-8")
    assert is_told(post(page, "providers/openai/limits", was="", action="add", model="m", context="1"))
    assert providers_of(home)["openai"] == {"models": models}


def test_the_embedded_model_has_no_sizes_to_change(page: TestClient) -> None:
    assert "limits-" not in page.get("/ui/settings/providers/skales_local/card").text


# --- endpoints of one's own ---


def test_an_endpoint_is_added_renamed_tested_and_removed(
    page: TestClient, app: App, look: Look, model: EchoModel
) -> None:
    post(page, "slots", name="Wörk  <Shop>", address=f"{model.url}/", api_key="k-12345", near="true")
    own = app.settings.load().provider("custom_work-shop")
    assert (own.label, own.base_url, own.api_key) == ("Wörk <Shop>", model.url, "k-12345")
    post(page, "values/providers.custom_work-shop.label", was='"W\\u00f6rk <Shop>"', value="Lab")
    assert "Lab" in look("/settings/providers").css_first("#provider-custom_work-shop .name").text()  # type: ignore[union-attr]
    post(page, "providers/custom_work-shop/remove")
    assert "custom_work-shop" not in app.settings.load().providers


def test_two_endpoints_of_one_name_stand_beside_each_other(page: TestClient, app: App) -> None:
    for _ in range(2):
        post(page, "slots", name="Lab", address="http://127.0.0.1:9/v1")
    assert {"custom_lab", "custom_lab-2"} <= set(app.settings.load().providers)


@pytest.mark.parametrize(
    "filled",
    [
        {"name": "", "address": "http://127.0.0.1:9/v1"},
        {"name": "x" * 61, "address": "http://127.0.0.1:9/v1"},
        {"name": "Lab", "address": ""},
        {"name": "Lab", "address": "http://example.org/v1"},
        {"name": "Lab", "address": "https://example.org/v1", "near": "true"},
        {"name": "Lab", "address": "http://127.0.0.1:9/v1", "api_key": "•••"},
    ],
)
def test_an_endpoint_that_cannot_be_used_is_refused(
    page: TestClient, home: DataDirectory, filled: dict[str, str]
) -> None:
    shown = post(page, "slots", **filled)
    assert shown.css_first(".field-error:not([hidden])").text().strip()  # type: ignore[union-attr]
    assert providers_of(home) == {}


def test_the_endpoint_that_answers_and_the_catalogues_own_cannot_be_removed(page: TestClient, app: App) -> None:
    post(page, "slots", name="Lab", address="http://127.0.0.1:9/v1")
    post(page, "providers/custom_lab/activate")
    for name in ("custom_lab", "openai", "custom_nobody", "custom"):
        assert page.post(f"/ui/settings/providers/{name}/remove", headers=HTMX).status_code >= 400
    assert "custom_lab" in app.settings.load().providers


# --- asking ---


def test_a_test_names_the_models_and_makes_them_choices(page: TestClient, model: EchoModel) -> None:
    post(page, "slots", name="Lab", address=model.url)
    shown = post(page, "providers/custom_lab/test")
    assert shown.css_first(".callout.good") is not None
    assert [option.attributes["value"] for option in shown.css("datalist option")] == ["echo"]


@pytest.mark.parametrize("address", ["test", "refresh"])
def test_an_endpoint_that_does_not_answer_is_told_with_the_cause(page: TestClient, address: str) -> None:
    post(page, "values/providers.custom.baseUrl", was="", value="http://127.0.0.1:9/v1")
    assert is_told(post(page, f"providers/custom/{address}"))


def test_a_test_of_what_is_not_set_up_says_what_is_missing(page: TestClient) -> None:
    for provider_id in ("openai", "custom", "cloudflare_workers_ai", "skales_iq", "openai_oauth"):
        assert is_told(post(page, f"providers/{provider_id}/test")), provider_id


def test_a_server_nearby_answers_with_one_press(page: TestClient, app: App, model: EchoModel) -> None:
    shown = post(page, "providers/lmstudio/nearby", address=model.url, model="echo")
    settings = app.settings.load()
    own = settings.provider("lmstudio")
    assert (settings.active_provider, own.base_url, own.model) == ("lmstudio", model.url, "echo")
    press(page, shown.css_first("#setting-activeProvider [data-put-back]"))
    assert app.settings.load().active_provider == "skales_local"
