import stat

import pytest

from skales.data.paths import DataDirectory
from skales.data.quarantine import Quarantine
from skales.data.sign_ins import SignIns, StoredSignIn
from tests.conftest import FixedClock


@pytest.fixture
def sign_ins(home: DataDirectory, clock: FixedClock) -> SignIns:
    return SignIns(home, Quarantine(home.quarantine, clock))


def test_a_sign_in_comes_back_and_can_be_forgotten(sign_ins: SignIns) -> None:
    kept = StoredSignIn("access", "refresh", 1_930_000_000_000)
    assert sign_ins.load("openai_oauth") is None
    sign_ins.save("openai_oauth", kept)
    assert sign_ins.load("openai_oauth") == kept
    sign_ins.save("openai_oauth", None)
    assert sign_ins.load("openai_oauth") is None


def test_tokens_are_for_their_owner_alone(sign_ins: SignIns, home: DataDirectory) -> None:
    sign_ins.save("openai_oauth", StoredSignIn("access", "refresh"))
    assert stat.S_IMODE(home.sign_ins.stat().st_mode) == 0o600
    assert home.sign_ins in home.private
    assert "access" not in repr(sign_ins.load("openai_oauth")).replace("access_token", "")
    assert "refresh" not in repr(sign_ins.load("openai_oauth")).replace("refresh_token", "")


def test_a_broken_file_means_signing_in_again(sign_ins: SignIns, home: DataDirectory) -> None:
    home.sign_ins.write_text("[]", encoding="utf-8")
    assert sign_ins.load("openai_oauth") is None
    sign_ins.save("openai_oauth", StoredSignIn("access"))
    assert sign_ins.load("openai_oauth") == StoredSignIn("access")
