"""What the template of one finding of a probe is given; see `server.views`."""

from typing import ClassVar

from msgspec import Struct

from skales.server.ui.provider_views import ProbeBadge


class FindingView(Struct, frozen=True):
    """One finding, as it comes."""

    template: ClassVar[str] = "settings/finding.html"
    badge: ProbeBadge
