"""JSON as it travels over HTTP. Incoming values are checked in the route that reads them.

The core's own JSON type names itself, which the framework's schema builder cannot follow.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Body

Answer = Mapping[str, Any]
JsonBody = Annotated[Mapping[str, Any], Body()]
