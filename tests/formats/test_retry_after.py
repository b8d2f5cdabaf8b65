"""How long to wait: seconds, milliseconds, dates, nonsense."""

import pytest

from zurelay.formats.retry_after import retry_after

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "20", "retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "20", "retry-after-ms": "soon"}, 20),
        ({"retry-after": "99999"}, 900),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, 0),
        (
            {
                "retry-after": "Tue, 14 Nov 2023 22:13:50 GMT",
                "date": "Tue, 14 Nov 2023 22:13:40 GMT",
            },
            10,
        ),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT", "date": "nonsense"}, 30),
        ({"retry-after": "Tue, 14 Nov 9999999 22:13:50 GMT"}, None),
    ],
)
def test_waits(headers: dict[str, str], wait: float | None) -> None:
    assert retry_after(headers, NOW) == wait
