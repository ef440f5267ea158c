"""Rows, their samples and limits, and how they are shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Target:
    """What a row should meet. `of` is `ratio` (to its baseline) or `value` (in its own unit)."""

    bound: float
    of: str = "ratio"
    at_least: bool = False

    def is_met(self, row: "Row") -> bool:
        """Whether the row's medians meet it."""
        measured = row.ratio if self.of == "ratio" else row.value
        return measured is not None and (measured >= self.bound if self.at_least else measured <= self.bound)

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}{' ×' if self.of == 'ratio' else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured thing beside its baseline. `samples` and `beside` hold values in `unit`.

    `subject` is the peer that it is about; empty for Skales.
    """

    name: str
    unit: str
    samples: Sequence[float]
    baseline: str = ""
    beside: Sequence[float] = field(default_factory=tuple)
    target: Target | None = None
    subject: str = ""

    @property
    def value(self) -> float:
        """The median."""
        return median(self.samples)

    @property
    def ratio(self) -> float | None:
        """Median over the baseline's median."""
        return self.value / median(self.beside) if self.beside and median(self.beside) > 0 else None

    @property
    def best_ratio(self) -> float | None:
        """Best over best: what a busy machine disturbs least."""
        return min(self.samples) / min(self.beside) if self.beside and min(self.beside) > 0 else None

    @property
    def verdict(self) -> str:
        """`met`, `MISSED`, or nothing without a target."""
        return "" if self.target is None else "met" if self.target.is_met(self) else "MISSED"

    def as_json(self) -> dict[str, object]:
        """For the file: all samples and what was made of them."""
        return {
            "name": self.name,
            "subject": self.subject or "Skales",
            "unit": self.unit,
            "median": self.value,
            "samples": list(self.samples),
            "baseline": self.baseline,
            "baseline_median": median(self.beside) if self.beside else None,
            "baseline_samples": list(self.beside),
            "ratio": self.ratio,
            "target": str(self.target) if self.target else None,
            "verdict": self.verdict,
        }


_COLUMNS = ("", "median", "min–max", "baseline", "", "ratio", "target", "")


def render_table(rows: Sequence[Row]) -> str:
    """Aligned columns; peers stand below the row that they are beside."""
    names = list(dict.fromkeys(row.name for row in rows))
    ordered = sorted(rows, key=lambda row: names.index(row.name))
    lines = [_COLUMNS, *(_cells(row) for row in ordered)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
    shown = ("  ".join(_align(cell, widths[at], at) for at, cell in enumerate(line)).rstrip() for line in lines)
    return "\n".join(shown)


def _cells(row: Row) -> tuple[str, ...]:
    spread = f"{_number(min(row.samples))}–{_number(max(row.samples))}" if len(row.samples) > 1 else ""
    return (
        f"  {row.subject}" if row.subject else row.name,
        f"{_number(row.value)} {row.unit}",
        spread,
        f"{_number(median(row.beside))} {row.unit}" if row.beside else "",
        row.baseline,
        f"{row.ratio:.2f} ×" if row.ratio is not None else "",
        str(row.target or ""),
        row.verdict,
    )


def _align(cell: str, width: int, column: int) -> str:
    return cell.ljust(width) if column in (0, 4, 7) else cell.rjust(width)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 1 else f"{value:.3f}"
