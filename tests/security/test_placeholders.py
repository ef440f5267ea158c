"""Where a named secret may stand in a call, and what the shell makes of one in a command."""

import os
import shutil
import subprocess

import pytest

from skales.core.errors import InputError
from skales.core.json import JsonObject
from skales.security.placeholders import Filled, Filling, covers_host, fill, host_of, secret_names

VALUE = "p&q=1 \"two\" $HOME `id` 'x' \\ *"
FORMATS = {"url": "uri", "path": "path", "command": "shell-command"}


def filled(arguments: JsonObject, value: str = VALUE) -> Filled:
    filling = Filling(FORMATS, lambda _name: value, lambda name: f"SKALES_SECRET_{name.upper()}")
    return fill(filling, arguments)


def test_a_text_gets_the_value_and_other_braces_stay() -> None:
    done = filled(
        {"headers": {"Authorization": "Bearer {{secret:crm}}"}, "body": "{{ secret: CRM }} {{name}} {{secret:}}"}
    )
    assert done.arguments == {
        "headers": {"Authorization": f"Bearer {VALUE}"},
        "body": f"{VALUE} {{{{name}}}} {{{{secret:}}}}",
    }
    assert done.environment == {}


def test_a_text_of_json_stays_json() -> None:
    assert filled({"body": '{"token": "{{secret:crm}}"}'}).arguments == {
        "body": '{"token": "p&q=1 \\"two\\" $HOME `id` \'x\' \\\\ *"}'
    }


def test_an_address_gets_it_encoded_behind_its_host() -> None:
    done = filled({"url": "https://api.example/v1?key={{secret:crm}}&n=1"}, "a&b/c ü")
    assert done.arguments == {"url": "https://api.example/v1?key=a%26b%2Fc%20%C3%BC&n=1"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "https://{{secret:crm}}.evil.example/"},
        {"url": "https://user:{{secret:crm}}@api.example/"},
        {"url": "{{secret:crm}}"},
        {"path": "notes/{{secret:crm}}.txt"},
    ],
)
def test_it_cannot_choose_a_host_or_a_file(arguments: JsonObject) -> None:
    with pytest.raises(InputError, match="A secret cannot stand in"):
        filled(arguments)


@pytest.mark.skipif(os.name == "nt", reason="asks a POSIX shell")
@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("printf %s {{secret:crm}}", VALUE),
        ('printf %s "{{secret:crm}}"', VALUE),
        ("printf %s '{{secret:crm}}'", VALUE),
        ('printf %s "Bearer {{secret:crm}} end"', f"Bearer {VALUE} end"),
        ("printf %s 'Bearer {{secret:crm}} \"end\"'", f'Bearer {VALUE} "end"'),
        ('printf %s "a\\"{{secret:crm}}"', f'a"{VALUE}'),
        ("printf %s it\\'s={{secret:crm}}", f"it's={VALUE}"),
        ("printf %s {{secret:crm}}'{{secret:crm}}'", VALUE + VALUE),
    ],
)
def test_a_command_finds_it_in_its_environment_whatever_the_quotes(command: str, printed: str) -> None:
    done = filled({"command": command})
    (text,) = done.arguments.values()
    assert isinstance(text, str)
    assert VALUE not in text
    assert done.environment == {"SKALES_SECRET_CRM": VALUE}
    shell = shutil.which("bash") or "/bin/sh"
    ran = subprocess.run(
        [shell, "-c", text], env={**os.environ, **done.environment}, capture_output=True, check=True, encoding="utf-8"
    )
    assert ran.stdout == printed


def test_the_names_a_call_mentions() -> None:
    assert secret_names({"a": "{{secret:One}} {{secret:two}}", "b": [{"c": "{{secret:one}}"}], "d": 3}) == (
        "one",
        "two",
    )
    assert secret_names("{{secret:../x}} {secret:x}") == ()


@pytest.mark.parametrize(
    ("hosts", "url", "covered"),
    [
        (("api.example",), "https://api.example/v1", True),
        (("api.example",), "https://API.example.:8443/v1", True),
        (("api.example",), "https://api.example.evil.test/", False),
        (("api.example",), "https://api.example@evil.test/", False),
        (("*.example",), "https://deep.api.example/", True),
        (("*.example",), "https://example/", False),
        (("*.example",), "https://badexample/", False),
        (("::1",), "http://[::1]:80/", True),
        ((), "https://api.example/", False),
        (("api.example",), "no address", False),
    ],
)
def test_hosts_cover_what_they_say(hosts: tuple[str, ...], url: str, covered: bool) -> None:
    assert covers_host(hosts, host_of(url)) is covered
