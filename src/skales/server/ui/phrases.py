"""Times, sizes and durations in words, as the page says them."""

from skales.core.clock import to_datetime
from skales.core.message import Usage
from skales.server.views import Moment

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FULL_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def show_moment(moment_ms: int, now_ms: int) -> Moment:
    """The time of day for today, the date with it for earlier days, in this machine's zone."""
    when, now = to_datetime(moment_ms), to_datetime(now_ms)
    time = f"{when:%H:%M}"
    if when.date() == now.date():
        words = time
    elif when.year == now.year:
        words = f"{when.day} {_MONTHS[when.month - 1]}, {time}"
    else:
        words = f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {time}"
    return Moment(when.isoformat(timespec="seconds"), words)


def show_period(moment_ms: int, now_ms: int) -> str:
    """The heading a moment belongs under: today, yesterday, the last 7 and 30 days, then its month."""
    when, now = to_datetime(moment_ms), to_datetime(now_ms)
    days = (now.date() - when.date()).days
    if days <= 0:
        return "Today"
    if days == 1:
        return "Yesterday"
    if days < 7:
        return "Last 7 days"
    if days < 30:
        return "Last 30 days"
    return f"{_FULL_MONTHS[when.month - 1]} {when.year}"


def show_duration(duration_ms: int) -> str:
    """`340 ms`, `1.4 s`, `2 min 3 s`; empty for nothing measured."""
    if duration_ms <= 0:
        return ""
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f} s"
    minutes, seconds = divmod(round(duration_ms / 1000), 60)
    return f"{minutes} min {seconds} s"


def show_size(size_bytes: int) -> str:
    """`98 MB`, in units of a thousand, as disks are sold."""
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    size, units = size_bytes / 1000, ["kB", "MB", "GB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        del units[0]
    return f"{size:.0f} {units[0]}" if size >= 10 else f"{size:.1f} {units[0]}"


def show_usage(usage: Usage | None) -> str:
    """What an answer cost in tokens; empty when the endpoint did not say."""
    if usage is None or not (usage.input_tokens or usage.output_tokens):
        return ""
    return f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"


def greet(now_ms: int) -> str:
    """A greeting that fits the hour."""
    hour = to_datetime(now_ms).hour
    if 5 <= hour < 12:
        return "Good morning."
    if 12 <= hour < 18:
        return "Good afternoon."
    return "Good evening."
