"""How fast models answered lately, on SQLite and on PostgreSQL."""

from tests.office.people import MEMBER, NOON, OWNER, STRANGER, refusal
from tests.office.test_trends import written
from tests.store.rows import a_record
from zurelay.chat.usage import Usage
from zurelay.meter.record import RequestRecord
from zurelay.office.desk import Desk
from zurelay.office.speeds import DAYS, Speed, speeds


def answer(at: float, first: float, whole: float, tokens: int, **more: object) -> RequestRecord:
    usage = Usage(input=5, output=tokens)
    values = {"answered_by": "m", "status": "ok", **more}
    return a_record(at, first_token_ms=first, duration_ms=whole, usage=usage, **values)


def test_a_models_speed_is_the_median_of_its_answers(desk: Desk) -> None:
    written(
        desk,
        answer(NOON - 3, 100, 1100, 50),
        answer(NOON - 2, 200, 1200, 70),
        answer(NOON - 1, 900, 1900, 900),
    )
    assert speeds(desk, OWNER) == {"m": Speed(3, 200, 70)}


def test_short_answers_and_failures_tell_nothing_of_it(desk: Desk) -> None:
    written(
        desk,
        answer(NOON - 3, 100, 1100, 3),
        answer(NOON - 2, 100, 101, 5000),
        answer(NOON - 1, 1, 1001, 7000, status="error"),
        answer(NOON - DAYS * 86_400 - 1, 1, 1001, 7000),
    )
    assert speeds(desk, OWNER) == {"m": Speed(2, 100, None)}


def test_parameters_of_sandbox_models_make_no_other_model(desk: Desk) -> None:
    written(desk, answer(NOON - 1, 1, 1001, 50, answered_by="sandbox/lorem?tps=9"))
    assert list(speeds(desk, OWNER)) == ["sandbox/lorem"]


def test_each_sees_the_speed_of_their_own_requests(desk: Desk) -> None:
    written(desk, answer(NOON - 1, 1, 1001, 50, account="acct_other"))
    assert list(speeds(desk, OWNER)) == ["m"]
    assert speeds(desk, MEMBER) == {}
    assert refusal(speeds, desk, MEMBER, "nowhere").status == 404
    assert list(speeds(desk, STRANGER)) == ["m"]
