"""The tool `get_weather`: weather now and on the next days, from Open-Meteo, which wants no key.

Both addresses can be replaced by the settings `serviceUrls.geocoding` and `serviceUrls.weather`.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlencode

from msgspec import Struct, structs

from skales.core.errors import InputError, ToolError
from skales.core.json import JsonObject, JsonValue, as_list, as_object, as_text, parse_json
from skales.core.tool import Effect, Safety, ToolResult
from skales.security.invisible import strip_invisible
from skales.tools.context import ToolContext
from skales.tools.define import Range, tool
from skales.tools.web.client import Limits, WebRequest, Wire, open_reply

_GEOCODING = "https://geocoding-api.open-meteo.com"
_FORECAST = "https://api.open-meteo.com"
_LIMITS = Limits(total_s=20, idle_s=10, redirects=2)
_MOST_BYTES = 500_000
_MOST_CITY = 100
_MOST_OTHERS = 4

_CURRENT = (
    "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m,"
    "wind_direction_10m"
)
_DAILY = (
    "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max,"
    "wind_speed_10m_max,sunrise,sunset"
)
_IMPERIAL = {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph", "precipitation_unit": "inch"}

# WMO code 4677, as Open-Meteo uses it.
_SKY: Mapping[int, str] = {
    0: "clear sky", 1: "mainly clear", 2: "partly cloudy", 3: "overcast", 45: "fog", 48: "freezing fog",
    51: "light drizzle", 53: "drizzle", 55: "heavy drizzle", 56: "light freezing drizzle", 57: "freezing drizzle",
    61: "light rain", 63: "rain", 65: "heavy rain", 66: "light freezing rain", 67: "freezing rain",
    71: "light snow", 73: "snow", 75: "heavy snow", 77: "snow grains", 80: "light showers", 81: "showers",
    82: "violent showers", 85: "light snow showers", 86: "snow showers", 95: "thunderstorm",
    96: "thunderstorm with hail", 99: "thunderstorm with heavy hail",
}  # fmt: skip
_WINDS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


class Units(StrEnum):
    """How degrees, wind and rain are given."""

    METRIC = "metric"
    IMPERIAL = "imperial"


class _Place(Struct, frozen=True):
    label: str
    latitude: float
    longitude: float


@tool(
    "core",
    Safety.AUTO,
    Effect.OUTBOUND,
    Effect.UNTRUSTED_OUTPUT,
    addon="weather",
    action="Look up the weather in {city}",
    example=("Do I need an umbrella in Graz tomorrow?", {"city": "Graz"}),
    found_by=(
        "Wetter Regen Temperatur rain umbrella Schirm sunny cold warm kalt forecast Vorhersage Schnee snow "
        "jacket wind draußen Grad degrees morgen hot heiß Jacke Sonne regnet schneit Sturm storm Gewitter "
        "weekend Wochenende weather"
    ),
)
async def get_weather(
    ctx: ToolContext, city: str, units: Units = Units.METRIC, days: Annotated[int, Range(1, 14)] = 4
) -> ToolResult:
    """Get the weather now and the forecast for a place.

    Args:
        city: Place, with region or country when there are several: "Springfield, Illinois".
        units: metric is °C, km/h, mm; imperial is °F, mph, inch.
        days: Days of forecast, today included.
    """
    wanted = " ".join(city.split())
    if not wanted or len(wanted) > _MOST_CITY:
        raise InputError("A place is missing", hint="Name a town, if need be with its country")
    place, others = await _find_place(ctx, wanted)
    query: dict[str, str | float] = {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "current": _CURRENT,
        "daily": _DAILY,
        "timezone": "auto",
        "forecast_days": days,
        **(_IMPERIAL if units is Units.IMPERIAL else {}),
    }
    answer = await _get(ctx, "weather", _FORECAST, f"/v1/forecast?{urlencode(query)}")
    return _result(place, others, answer)


async def _find_place(ctx: ToolContext, wanted: str) -> tuple[_Place, Sequence[str]]:
    """The best match, and the other places that could be meant. Raises ToolError for an unknown one."""
    name, *more = [part.strip() for part in wanted.split(",")]
    query = urlencode({"name": name, "count": 10, "language": "en", "format": "json"}, errors="replace")
    answer = await _get(ctx, "geocoding", _GEOCODING, f"/v1/search?{query}")
    rows = [as_object(row) for row in as_list(answer.get("results"))]
    found = [
        row for row in rows if _number(row.get("latitude")) is not None and _number(row.get("longitude")) is not None
    ]
    fitting = [row for row in found if all(_names(row, part) for part in more if part)]
    if not fitting:
        known = ", or ".join(_label(row) for row in found[:_MOST_OTHERS])
        hint = f"There is {known}" if known else "Check the spelling, or name the next larger town"
        raise ToolError(f"No place named {wanted!r} is known", hint=hint, code="unknown_place")
    # The service sorts by fit and size; a name that fits exactly goes before a part of one.
    best = min(fitting, key=lambda row: as_text(row.get("name")).casefold() != name.casefold())
    others = [_label(row) for row in fitting if row is not best]
    latitude, longitude = _number(best.get("latitude")), _number(best.get("longitude"))
    assert latitude is not None, "rows without a place were left out"
    assert longitude is not None, "rows without a place were left out"
    return _Place(_label(best), latitude, longitude), [one for one in dict.fromkeys(others) if one != _label(best)]


def _names(row: JsonObject, part: str) -> bool:
    """Whether a part of what was asked, such as a country, is one of the place's own."""
    own = [as_text(row.get(key)) for key in ("admin1", "admin2", "country", "country_code")]
    return any(part.casefold() == text.casefold() for text in own if text) or any(
        len(part) > 3 and part.casefold() in text.casefold() for text in own
    )


def _label(row: JsonObject) -> str:
    parts = (_plain(row.get(key)) for key in ("name", "admin1", "country"))
    return ", ".join(dict.fromkeys(part for part in parts if part))


async def _get(ctx: ToolContext, service: str, usual: str, path: str) -> JsonObject:
    """The JSON object of an answer. Raises ToolError in words for a person."""
    own = ctx.service_urls.get(service, "")
    policy = structs.replace(ctx.network, allow_loopback=True, allow_lan=True) if own else ctx.network
    request = WebRequest(headers={"Accept": "application/json"}, stays=True)
    async with open_reply(f"{own or usual}{path}", policy, request, Wire(limits=_LIMITS)) as reply:
        body, is_cut = await reply.read(_MOST_BYTES)
    try:
        answer = as_object(parse_json(body.decode("utf-8"))) if not is_cut else {}
    except ValueError:
        answer = {}
    if reply.status != 200 or not answer:
        reason = _plain(answer.get("reason"))
        raise ToolError(
            f"The weather service answered {reply.status}{f': {reason}' if reason else ''}",
            hint="Try again later",
            code="weather_service",
        )
    return answer


def _result(place: _Place, others: Sequence[str], answer: JsonObject) -> ToolResult:
    now, units = as_object(answer.get("current")), as_object(answer.get("current_units"))
    if not now:
        raise ToolError("The weather service sent no weather", hint="Try again later", code="weather_service")
    sky = _sky(now.get("weather_code"))
    degrees = _plain(units.get("temperature_2m"))
    temperature = f"{_shown(now.get('temperature_2m'))} {degrees}"
    lines = [
        f"Weather in {place.label} at {_plain(now.get('time')).replace('T', ' ')} ({_plain(answer.get('timezone'))}):",
        f"{sky}, {temperature}, feels like {_shown(now.get('apparent_temperature'))} {degrees}, "
        f"humidity {_shown(now.get('relative_humidity_2m'))} %, wind {_wind(now, units)}, "
        f"precipitation {_shown(now.get('precipitation'))} {_plain(units.get('precipitation'))}",
        *_daily(as_object(answer.get("daily")), as_object(answer.get("daily_units"))),
    ]
    if others:
        more = f" and {len(others) - _MOST_OTHERS} more" if len(others) > _MOST_OTHERS else ""
        lines.append(f"Taken for {place.label}. Others of that name: {'; '.join(others[:_MOST_OTHERS])}{more}.")
    return ToolResult(
        text="\n".join(lines),
        summary=f"{place.label}: {temperature}, {sky}",
        data={"place": place.label, "others": list(others), "current": now, "daily": as_object(answer.get("daily"))},
    )


def _wind(now: JsonObject, units: JsonObject) -> str:
    direction = _number(now.get("wind_direction_10m"))
    name = "" if direction is None else f" {_WINDS[round(direction / 45) % 8]}"
    return f"{_shown(now.get('wind_speed_10m'))} {_plain(units.get('wind_speed_10m'))}{name}"


def _daily(daily: JsonObject, units: JsonObject) -> Sequence[str]:
    def at(name: str, place: int) -> JsonValue:
        values = as_list(daily.get(name))
        return values[place] if place < len(values) else None

    degrees, rain, speed = (
        _plain(units.get(name)) for name in ("temperature_2m_max", "precipitation_sum", "wind_speed_10m_max")
    )
    lines: list[str] = []
    for place, day in enumerate(as_list(daily.get("time"))[:16]):
        rise, fall = (_plain(at(name, place))[11:16] for name in ("sunrise", "sunset"))
        lines.append(
            f"- {_plain(day)}: {_sky(at('weather_code', place))}, "
            f"{_shown(at('temperature_2m_min', place))} to {_shown(at('temperature_2m_max', place))} {degrees}, "
            f"precipitation {_shown(at('precipitation_sum', place))} {rain} "
            f"({_shown(at('precipitation_probability_max', place))} %), "
            f"wind up to {_shown(at('wind_speed_10m_max', place))} {speed}, sun {rise}–{fall}"
        )
    return lines


def _sky(code: JsonValue) -> str:
    number = _number(code)
    return "weather unknown" if number is None else _SKY.get(int(number), "weather unknown")


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _shown(value: JsonValue) -> str:
    number = _number(value)
    return "?" if number is None else f"{number:g}"


def _plain(value: JsonValue) -> str:
    """A text of the service on one short line."""
    return " ".join(strip_invisible(as_text(value))[0].split())[:100]
