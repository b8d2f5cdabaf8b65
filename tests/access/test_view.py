from zurelay.access.accounts import Budget
from zurelay.access.keys import Key
from zurelay.access.view import key_row, key_view

PLAIN = Key("key_1", "laptop", "acct_1", "default", b"h" * 32, "abcd", created=86_400)
LIMITED = Key(
    "key_2",
    "ci",
    "acct_1",
    "default",
    b"i" * 32,
    "efgh",
    created=86_400,
    models=("gpt-6-sol", "openai/*"),
    expires=172_800,
    budget=Budget(5_000_000_000, "month"),
    rpm=60,
    tpm=100_000,
    concurrency=4,
    last_used=90_000,
)


def test_a_key_without_limits_shows_none() -> None:
    assert key_view(PLAIN, 450, None) == {
        "id": "key_1",
        "name": "laptop",
        "account": "default",
        "limits": {
            "models": None,
            "budget_usd": None,
            "budget_period": None,
            "rpm": None,
            "tpm": None,
            "concurrency": None,
            "expires": None,
        },
        "spent_usd": "0.00000045",
        "remaining_usd": None,
        "store_days": None,
    }


def test_a_limited_key_shows_its_limits_and_what_remains() -> None:
    view = key_view(LIMITED, 1_250_000_000, 3_750_000_000)
    assert view["limits"] == {
        "models": ["gpt-6-sol", "openai/*"],
        "budget_usd": "5",
        "budget_period": "month",
        "rpm": 60,
        "tpm": 100_000,
        "concurrency": 4,
        "expires": "1970-01-03T00:00:00Z",
    }
    assert (view["spent_usd"], view["remaining_usd"]) == ("1.25", "3.75")


def test_what_remains_is_never_below_zero() -> None:
    assert key_row(LIMITED, 6_000_000_000, now=0)["remaining_usd"] == "0"
    assert key_row(PLAIN, 6_000_000_000, now=0)["remaining_usd"] is None


def test_an_operator_also_sees_state_and_use() -> None:
    row = key_row(LIMITED, 0, now=172_800)
    assert row["state"] == "expired"
    assert row["last4"] == "efgh"
    assert row["last_used"] == "1970-01-02T01:00:00Z"
    assert row["revoked"] is None
    assert not any(value == LIMITED.hash for value in row.values())
