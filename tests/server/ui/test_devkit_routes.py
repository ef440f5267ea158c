"""The playground's table and the server name the same operations."""

from skales.app.app import App
from skales.server.app import create_server
from skales.server.ui.devkit_routes import list_routes


def test_the_table_names_every_devkit_operation_and_no_other(app: App) -> None:
    paths = create_server(app).openapi()["paths"]
    served = {
        (method.upper(), path)
        for path, operations in paths.items()
        if path.startswith("/api/cli/")
        for method in operations
    }
    assert {(route.method, route.path) for route in list_routes()} == served
