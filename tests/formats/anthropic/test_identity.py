"""The person and the session that a coding agent writes into one field."""

import json

import pytest

from zurelay.formats.anthropic.identity import person
from zurelay.formats.registry import front

DEVICE = "d3bd626da3eb6552d3d087fed55f89713c1ea04fc4ffc54c716a5f507e7897cc"
ACCOUNT = "0b8a1f4e-3c1d-4b7e-9a55-6f0b2c1d9e77"
SESSION = "85303a5c-27ad-495f-8ac5-a99f035080bf"


def written(**fields: object) -> str:
    """As Claude Code 2.1.332 writes it."""
    return json.dumps({"device_id": DEVICE, "account_uuid": "", "session_id": SESSION, **fields})


def test_a_session_is_no_person() -> None:
    assert person(written()) == (DEVICE, {"session_id": SESSION})
    assert person(written(account_uuid=ACCOUNT)) == (ACCOUNT, {"session_id": SESSION})
    assert person(written(session_id="")) == (DEVICE, None)


def test_nor_is_it_in_the_older_form() -> None:
    older = f"user_{DEVICE}_account_{ACCOUNT}_session_{SESSION}"
    assert person(older) == (ACCOUNT, {"session_id": SESSION})
    older = f"user_{DEVICE}_account__session_{SESSION}"
    assert person(older) == (DEVICE, {"session_id": SESSION})


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "u1",
        "user_7_account_x_session_y",
        '{"device_id": 7}',
        '{"id": "u1"}',
        "[]",
        "{",
        '{"device_id": ""}',
        "\ud800",
    ],
)
def test_anything_else_is_the_person_as_it_is(text: str | None) -> None:
    assert person(text) == (text, None)


def test_the_log_gets_both() -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
        "metadata": {"user_id": written()},
    }
    inbound = front("anthropic").read(json.dumps(body).encode())
    assert (inbound.user, inbound.metadata) == (DEVICE, {"session_id": SESSION})
