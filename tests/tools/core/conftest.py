"""The local web server of the web tools, for the tools that ask one service."""

from tests.tools.web.conftest import server as server
