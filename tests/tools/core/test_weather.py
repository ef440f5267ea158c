"""get_weather against a local server that plays Open-Meteo."""

import json
from collections.abc import Sequence

import pytest

from skales.core.errors import ToolError
from skales.core.json import JsonValue, as_list, as_object
from skales.core.tool import Safety
from skales.data.setting_faults import parse_settings
from skales.data.setting_shapes import Settings
from skales.security.network import NetworkPolicy
from skales.tools.registry import BuiltinToolbox
from tests.tools.conftest import Call, Rules
from tests.tools.web.conftest import LocalServer, reply

pytestmark = pytest.mark.anyio

GRAZ: dict[str, JsonValue] = {
    "name": "Graz", "admin1": "Styria", "country": "Austria", "country_code": "AT",
    "latitude": 47.07, "longitude": 15.44,
}  # fmt: skip
FORECAST: dict[str, JsonValue] = {
    "timezone": "Europe/Vienna",
    "current_units": {"temperature_2m": "°C", "precipitation": "mm", "wind_speed_10m": "km/h"},
    "current": {
        "time": "2026-11-30T16:15", "temperature_2m": 3.4, "apparent_temperature": -0.2, "relative_humidity_2m": 81,
        "precipitation": 0.0, "weather_code": 45, "wind_speed_10m": 11.2, "wind_direction_10m": 310,
    },
    "daily_units": {"temperature_2m_max": "°C", "precipitation_sum": "mm", "wind_speed_10m_max": "km/h"},
    "daily": {
        "time": ["2026-11-30", "2026-12-01"], "weather_code": [45, 61], "temperature_2m_max": [4.1, 6.0],
        "temperature_2m_min": [-1.0, 2.2], "precipitation_sum": [0.0, 5.5],
        "precipitation_probability_max": [10, 90], "wind_speed_10m_max": [12.0, 20.4],
        "sunrise": ["2026-11-30T07:20", "2026-12-01T07:21"], "sunset": ["2026-11-30T16:07", "2026-12-01T16:07"],
    },
}  # fmt: skip


def place(name: str, region: str, country: str, code: str = "US") -> dict[str, JsonValue]:
    return {**GRAZ, "name": name, "admin1": region, "country": country, "country_code": code}


def play(server: LocalServer, rules: Rules, places: Sequence[JsonValue], forecast: JsonValue = FORECAST) -> None:
    server.answers["/geo/v1/search"] = reply(json.dumps({"results": places}).encode(), "application/json")
    server.answers["/met/v1/forecast"] = reply(json.dumps(forecast).encode(), "application/json")
    urls: JsonValue = {"geocoding": server.url("/geo"), "weather": server.url("/met")}
    rules.settings, faults = parse_settings({"serviceUrls": urls})
    assert not faults


def test_weather_is_automatic_and_of_the_core(toolbox: BuiltinToolbox) -> None:
    spec = toolbox.find("get_weather")
    assert spec is not None
    assert (spec.category, spec.safety, spec.addon) == ("core", Safety.AUTO, "weather")
    assert toolbox.is_enabled("get_weather")


async def test_weather_now_and_on_the_next_days(server: LocalServer, call: Call, rules: Rules) -> None:
    play(server, rules, [GRAZ])
    rules.network = NetworkPolicy()
    result = await call("get_weather", city="Graz", days=2)
    assert result.text == (
        "Weather in Graz, Styria, Austria at 2026-11-30 16:15 (Europe/Vienna):\n"
        "fog, 3.4 °C, feels like -0.2 °C, humidity 81 %, wind 11.2 km/h NW, precipitation 0 mm\n"
        "- 2026-11-30: fog, -1 to 4.1 °C, precipitation 0 mm (10 %), wind up to 12 km/h, sun 07:20–16:07\n"
        "- 2026-12-01: light rain, 2.2 to 6 °C, precipitation 5.5 mm (90 %), wind up to 20.4 km/h, sun 07:21–16:07"
    )
    assert result.summary == "Graz, Styria, Austria: 3.4 °C, fog"
    asked = server.requests[1].split(" ")[1]
    assert "latitude=47.07&longitude=15.44" in asked
    assert "forecast_days=2" in asked
    assert "unit" not in asked


async def test_imperial_units_are_asked_for(server: LocalServer, call: Call, rules: Rules) -> None:
    play(server, rules, [GRAZ])
    await call("get_weather", city="Graz", units="imperial")
    assert "temperature_unit=fahrenheit&wind_speed_unit=mph&precipitation_unit=inch" in server.requests[1]


async def test_ambiguous_name_says_which_place_was_taken(server: LocalServer, call: Call, rules: Rules) -> None:
    places = [place("Springfield", region, "United States") for region in ("Missouri", "Illinois", "Ohio")]
    play(server, rules, [place("Springfield Gardens", "New York", "United States"), *places])
    result = await call("get_weather", city="springfield")
    assert as_object(result.data)["place"] == "Springfield, Missouri, United States"
    assert (
        "Taken for Springfield, Missouri, United States. Others of that name: Springfield Gardens, New York, United "
        "States; Springfield, Illinois, United States; Springfield, Ohio, United States." in result.text
    )


@pytest.mark.parametrize(
    "city", ["Springfield, Illinois", "Springfield,illinois, US", "Springfield, Illinois, United States"]
)
async def test_region_or_country_chooses_among_them(server: LocalServer, call: Call, rules: Rules, city: str) -> None:
    play(server, rules, [place("Springfield", region, "United States") for region in ("Missouri", "Illinois")])
    result = await call("get_weather", city=city)
    assert as_object(result.data)["place"] == "Springfield, Illinois, United States"
    assert as_list(as_object(result.data)["others"]) == []
    assert "name=Springfield&" in server.requests[0]


async def test_unknown_place_is_an_error_that_names_what_there_is(
    server: LocalServer, call: Call, rules: Rules
) -> None:
    play(server, rules, [])
    with pytest.raises(ToolError, match=r"No place named 'Xyz' is known\. Check the spelling"):
        await call("get_weather", city="Xyz")
    play(server, rules, [GRAZ])
    with pytest.raises(ToolError, match="There is Graz, Styria, Austria"):
        await call("get_weather", city="Graz, Peru")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            reply(b'{"error":true,"reason":"Daily limit reached"}', "application/json", "429 Too Many"),
            "429: Daily limit",
        ),
        (reply(b"<html>", "text/html"), "answered 200"),
        (reply(b"[]", "application/json"), "answered 200"),
        (reply(b'{"x":1}', "application/json"), "sent no weather"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", "cannot be read"),
    ],
    ids=["limit", "page", "list", "other", "cut"],
)
async def test_service_that_fails_is_an_error(
    server: LocalServer, call: Call, rules: Rules, answer: bytes, message: str
) -> None:
    play(server, rules, [GRAZ])
    server.answers["/met/v1/forecast"] = answer
    with pytest.raises(ToolError, match=message):
        await call("get_weather", city="Graz")


async def test_odd_values_are_shown_as_unknown(server: LocalServer, call: Call, rules: Rules) -> None:
    odd: dict[str, JsonValue] = {"temperature_2m": None, "weather_code": "x", "wind_speed_10m": True, "time": 7}
    play(server, rules, [{**GRAZ, "name": "Graz\n\u200bObey"}], {"current": odd, "daily": {"time": ["a"]}})
    text = (await call("get_weather", city="Graz")).text
    assert text.startswith("Weather in Graz Obey, Styria, Austria at")
    assert "weather unknown, ? , feels like ?" in text


@pytest.mark.parametrize("city", ["", "   ", "x" * 101])
async def test_place_that_is_none_asks_nobody(server: LocalServer, call: Call, rules: Rules, city: str) -> None:
    play(server, rules, [GRAZ])
    with pytest.raises(ToolError, match="A place is missing"):
        await call("get_weather", city=city)
    assert server.requests == []


def test_service_addresses_are_checked_settings() -> None:
    found, faults = parse_settings({"serviceUrls": {"weather": "ftp://x", "geocoding": "https://a.example/"}})
    assert (found.service_urls, len(faults)) == ({"geocoding": "https://a.example"}, 1)
    assert Settings().service_urls == {}
