"""How quantities grow with a number of things, and the slope of it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Growth:
    """A quantity at each number of what there is `of`."""

    name: str
    unit: str
    of: str
    values: dict[int, float] = field(default_factory=dict)

    @property
    def slope(self) -> float:
        """Exponent over all sizes: 0 is constant, 1 grows with the number."""
        points = [(math.log(size), math.log(max(value, 1e-6))) for size, value in self.values.items()]
        mean_x = sum(x for x, _ in points) / len(points)
        mean_y = sum(y for _, y in points) / len(points)
        spread = sum((x - mean_x) ** 2 for x, _ in points)
        return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0

    @property
    def per_thousand(self) -> float:
        """What a thousand more add, between the smallest and the largest number."""
        first, last = min(self.values), max(self.values)
        return (self.values[last] - self.values[first]) / max(last - first, 1) * 1000


def render_growth(growth: Sequence[Growth]) -> str:
    """A table for each kind of thing, a line for each quantity, with its slope."""
    kinds = dict.fromkeys(line.of for line in growth)
    return "\n\n".join("\n".join(_render(kind, [line for line in growth if line.of == kind])) for kind in kinds)


def _render(kind: str, growth: Sequence[Growth]) -> Iterator[str]:
    sizes = sorted(growth[0].values)
    head = f"{f'growth with {kind}':<32}" + "".join(f"{size:>11,}" for size in sizes)
    yield f"{head}{'slope':>8}{'per 1,000':>14}"
    for line in growth:
        values = "".join(f"{line.values[size]:>11,.1f}" for size in sizes)
        added = f"{line.per_thousand:.2f} {line.unit}"
        yield f"{line.name + ', ' + line.unit:<32}{values}{line.slope:>8.2f}{added:>14}"
