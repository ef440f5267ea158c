"""The playground's table and the server name the same operations."""

from fastapi.routing import iter_route_contexts

from skales.server.routes import list_routes
from skales.server.ui import devkit_routes


def test_the_table_names_every_devkit_operation_and_no_other() -> None:
    served = {
        (method, context.path)
        for group in list_routes()
        for context in iter_route_contexts(group.load())
        if str(context.path).startswith("/api/cli/")
        for method in context.methods or ()
    }
    assert {(route.method, route.path) for route in devkit_routes.list_routes()} == served
