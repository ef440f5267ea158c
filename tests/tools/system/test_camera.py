"""A camera on a real server gives its picture, by name only; its address and its password stay with the person."""

import base64
import io
from collections.abc import Callable

import pytest
from PIL import Image

from skales.core.errors import ToolError
from skales.core.json import JsonObject, as_object
from skales.data.setting_shapes import CameraSettings
from tests.tools.conftest import Call, Rules
from tests.tools.web.conftest import LocalServer, reply, server

__all__ = ["server"]  # the web tools' fixture
pytestmark = pytest.mark.anyio

PASSWORD = "only-for-the-camera"


def photograph(size: tuple[int, int] = (2000, 1000), kind: str = "JPEG", **extra: bytes) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(buffer, kind, **extra)
    return buffer.getvalue()


@pytest.fixture
def camera(server: LocalServer, rules: Rules) -> Callable[..., None]:
    """`camera(body, type)`: the door's camera answers with that."""

    def answer(body: bytes, content_type: str = "image/jpeg", status: str = "200 OK") -> None:
        server.answers["/shot?token=abc"] = reply(body, content_type, status)
        rules.cameras["door"] = CameraSettings(address=server.url("/shot?token=abc"), username="ada", password=PASSWORD)

    return answer


async def test_picture_comes_small_and_without_what_the_camera_wrote_into_it(
    call: Call, camera: Callable[..., None], server: LocalServer
) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Secret maker"
    camera(photograph(exif=exif.tobytes()))
    result = await call("camera_snapshot")
    (picture,) = result.pictures
    data = base64.b64decode(picture.data_base64)
    with Image.open(io.BytesIO(data)) as found:
        assert found.size == (1568, 784)
        assert not found.getexif()
    assert b"Secret maker" not in data
    assert as_object(result.data) == {"camera": "door", "width": 2000, "height": 1000}
    expected = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
    assert f"authorization: basic {expected}".lower() in server.requests[0].lower()


@pytest.mark.parametrize("arguments", [{}, {"camera": "door"}, {"camera": " DOOR "}])
async def test_camera_is_chosen_by_name(call: Call, camera: Callable[..., None], arguments: JsonObject) -> None:
    camera(photograph((64, 48), "PNG"), "image/png")
    assert "'door', 64 x 48 pixels" in (await call("camera_snapshot", **arguments)).text


async def test_several_cameras_have_to_be_named(call: Call, camera: Callable[..., None], rules: Rules) -> None:
    camera(photograph())
    rules.cameras["garden"] = CameraSettings(address="http://192.0.2.1/")
    rules.cameras["empty"] = CameraSettings()
    with pytest.raises(ToolError, match="There are several cameras") as caught:
        await call("camera_snapshot")
    assert caught.value.hint == "Name one of door, garden"
    for name in ("empty", "http://127.0.0.1/", "../door", "x" * 10_000):
        with pytest.raises(ToolError, match="There is no camera"):
            await call("camera_snapshot", camera=name)


async def test_without_a_camera_it_is_said_how_to_set_one_up(call: Call) -> None:
    with pytest.raises(ToolError, match="No camera is set up") as caught:
        await call("camera_snapshot")
    assert caught.value.code == "no_camera"
    assert "skales config set cameras.door.address" in caught.value.hint


@pytest.mark.parametrize(
    ("body", "content_type", "status", "words"),
    [
        (b"<html>Log in</html>", "text/html", "200 OK", "sent no picture"),
        (b"", "image/jpeg", "200 OK", "sent no picture"),
        (photograph()[:500], "image/jpeg", "200 OK", "sent no picture"),
        (b"\xff\xd8\xff" + bytes(20_000_001), "image/jpeg", "200 OK", "sends more than 20 MB"),
        (b"no", "text/plain", "401 Unauthorized", "refuses the user name or password"),
        (b"no", "text/plain", "503 Busy", "answered 503"),
    ],
)
async def test_camera_that_fails_is_an_error_without_its_secrets(  # noqa: PLR0913 - a matrix
    call: Call, camera: Callable[..., None], body: bytes, content_type: str, status: str, words: str
) -> None:
    camera(body, content_type, status)
    with pytest.raises(ToolError, match=words) as caught:
        await call("camera_snapshot")
    for secret in (PASSWORD, "token=abc", "ada"):
        assert secret not in str(caught.value)


async def test_camera_obeys_the_rules_of_the_network(call: Call, camera: Callable[..., None], rules: Rules) -> None:
    camera(photograph())
    rules.network = type(rules.network)(allow_loopback=False)
    with pytest.raises(ToolError, match="only when the setting allowLoopback is on"):
        await call("camera_snapshot")
    for address in (
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "nonsense",
        "/dev/sda",
        "/dev/video0/../sda",
    ):
        rules.cameras["door"] = CameraSettings(address=address)
        with pytest.raises(ToolError):
            await call("camera_snapshot")


@pytest.mark.parametrize("address", ["/dev/video0", "0"])
async def test_device_needs_a_package_that_is_named(call: Call, rules: Rules, address: str) -> None:
    rules.cameras["desk"] = CameraSettings(address=address)
    with pytest.raises(ToolError, match="opencv-python-headless") as caught:
        await call("camera_snapshot")
    assert caught.value.code == "no_opencv"


def test_secrets_of_a_camera_are_not_shown() -> None:
    shown = repr(CameraSettings(address="http://x/?token=abc", username="ada", password=PASSWORD))
    assert PASSWORD not in shown
    assert "token" not in shown
