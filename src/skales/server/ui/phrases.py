"""Times, sizes, numbers and durations in words, as the page says them in the person's language."""

from skales.core.clock import to_datetime
from skales.core.message import Usage
from skales.server.views import Moment
from skales.server.words import N_, _, ngettext

# As they stand behind a day: `3 Nov`.
_MONTHS = (
    N_("Jan"),
    N_("Feb"),
    N_("Mar"),
    N_("Apr"),
    N_("May"),
    N_("Jun"),
    N_("Jul"),
    N_("Aug"),
    N_("Sep"),
    N_("Oct"),
    N_("Nov"),
    N_("Dec"),
)
_FULL_MONTHS = (
    N_("January"),
    N_("February"),
    N_("March"),
    N_("April"),
    N_("May"),
    N_("June"),
    N_("July"),
    N_("August"),
    N_("September"),
    N_("October"),
    N_("November"),
    N_("December"),
)
_MINUTE_MS = 60_000


def show_moment(moment_ms: int, now_ms: int) -> Moment:
    """The time of day for today, the date with it for earlier days, in this machine's zone."""
    when, now = to_datetime(moment_ms), to_datetime(now_ms)
    time = f"{when:%H:%M}"
    month = _(_MONTHS[when.month - 1])
    if when.date() == now.date():
        words = time
    elif when.year == now.year:
        words = _("%(day)d %(month)s, %(time)s", day=when.day, month=month, time=time)
    else:
        words = _("%(day)d %(month)s %(year)d, %(time)s", day=when.day, month=month, year=when.year, time=time)
    return Moment(when.isoformat(timespec="seconds"), words)


def show_period(moment_ms: int, now_ms: int) -> str:
    """The heading a moment belongs under: today, yesterday, the last 7 and 30 days, then its month."""
    when, now = to_datetime(moment_ms), to_datetime(now_ms)
    days = (now.date() - when.date()).days
    if days <= 0:
        return _("Today")
    if days == 1:
        return _("Yesterday")
    if days < 7:
        return _("Last 7 days")
    if days < 30:
        return _("Last 30 days")
    return _("%(month)s %(year)d", month=_(_FULL_MONTHS[when.month - 1]), year=when.year)


def show_duration(duration_ms: int) -> str:
    """`340 ms`, `1.4 s`, `2 min 3 s`; empty for nothing measured."""
    if duration_ms <= 0:
        return ""
    if duration_ms < 1000:
        return _("%(number)s ms", number=show_number(duration_ms))
    if duration_ms < _MINUTE_MS:
        return _("%(number)s s", number=show_decimal(duration_ms / 1000))
    minutes, seconds = divmod(round(duration_ms / 1000), 60)
    return _("%(minutes)d min %(seconds)d s", minutes=minutes, seconds=seconds)


def show_size(size_bytes: int) -> str:
    """`98 MB`, in units of a thousand, as disks are sold."""
    if size_bytes < 1000:
        return ngettext("%(num)d byte", "%(num)d bytes", size_bytes)
    size, units = size_bytes / 1000, [N_("%(number)s kB"), N_("%(number)s MB"), N_("%(number)s GB")]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        del units[0]
    return _(units[0], number=show_number(round(size)) if size >= 10 else show_decimal(size))


def show_number(number: int) -> str:
    """`12,034` with the sign between thousands that the language has."""
    # Translators: the sign between thousands, as in 12,034.
    return f"{number:,}".replace(",", _(","))


def show_decimal(number: float) -> str:
    """`1.4`: one place behind the language's decimal sign."""
    # Translators: the decimal sign, as in 1.4.
    return f"{number:.1f}".replace(".", _("."))


def show_usd(amount: float) -> str:
    """`1.24 USD`; four places below ten cents, and `under 0.0001 USD` below those."""
    if 0 < amount < 0.0001:
        return _("under %(number)s USD", number="0.0001".replace(".", _(".")))
    places = 2 if amount >= 0.1 or not amount else 4
    whole, _point, fraction = f"{amount:.{places}f}".partition(".")
    number = show_number(int(whole))
    if int(fraction):
        number += _(".") + fraction
    # Translators: an amount of money in US dollars.
    return _("%(number)s USD", number=number)


def show_usage(usage: Usage | None) -> str:
    """What an answer cost in tokens; empty when the endpoint did not say."""
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return ""
    return _(
        "%(inward)s tokens in, %(outward)s out",
        inward=show_number(usage.input_tokens),
        outward=show_number(usage.output_tokens),
    )


def show_speed(output_tokens: int, duration_ms: int) -> str:
    """`42 tokens per second`; empty when either is unknown."""
    if output_tokens <= 0 or duration_ms <= 0:
        return ""
    per_second = output_tokens * 1000 / duration_ms
    number = show_number(round(per_second)) if per_second >= 10 else show_decimal(per_second)
    return _("%(number)s tokens per second", number=number)


def greet(now_ms: int) -> str:
    """A greeting that fits the hour."""
    hour = to_datetime(now_ms).hour
    if 5 <= hour < 12:
        return _("Good morning.")
    if 12 <= hour < 18:
        return _("Good afternoon.")
    return _("Good evening.")


def first_sentence(text: str) -> str:
    """The beginning of a text up to its first full stop."""
    return text.strip().partition(". ")[0].rstrip(".")
