"""An error answer that quotes what was sent quotes no secret of it."""

import pytest
from starlette.testclient import TestClient

LOOKS = "ghp" + "_" + "Pl4nt3dS3cr3tPl4nt3dS3cr3tPl4nt3dXY"


@pytest.mark.parametrize("address", [f"/api/approvals/{LOOKS}"])
def test_an_error_answer_holds_no_secret(page: TestClient, address: str) -> None:
    answer = page.post(address, json={"decision": "reject"})
    assert answer.status_code == 404
    assert LOOKS not in answer.text
    assert "[secret: GitHub token ghp_…3dXY]" in answer.json()["error"]
