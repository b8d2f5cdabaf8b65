from dataclasses import replace

import pytest

from tests.store.rows import a_key
from zurelay.access.accounts import Budget
from zurelay.office.widening import widened

OLD = a_key(
    models=("gpt-6", "sandbox/*"),
    budget=Budget(100, "day"),
    rpm=5,
    tpm=50,
    concurrency=2,
    expires=1000,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("models", None),
        ("models", ("gpt-6", "gpt-7")),
        ("models", ("*",)),
        ("models", ("sandb/*",)),
        ("budget", None),
        ("budget", Budget(101, "day")),
        ("budget", Budget(50, "total")),
        ("rpm", 6),
        ("tpm", None),
        ("concurrency", 3),
        ("expires", 1001),
        ("expires", None),
    ],
)
def test_a_limit_that_allows_more_is_named(name: str, value: object) -> None:
    assert widened(OLD, replace(OLD, **{name: value})) == name  # type: ignore[arg-type]


def test_what_allows_the_same_or_less_is_not() -> None:
    less = replace(
        OLD,
        name="other",
        models=("sandbox/echo", "sandbox/x/*"),
        budget=Budget(10, "day"),
        rpm=5,
        tpm=1,
        expires=999,
    )
    assert widened(OLD, less) is None
    assert widened(OLD, replace(OLD, models=())) is None
    free = a_key()
    assert widened(free, OLD) is None
    assert widened(free, free) is None
