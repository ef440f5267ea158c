"""What the template of one finding of a probe is given; see `server.views`."""

from dataclasses import dataclass
from typing import ClassVar

from skales.server.ui.provider_views import ProbeBadge


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding, as it comes."""

    template: ClassVar[str] = "settings/finding.html"
    badge: ProbeBadge
