import msgspec

from tests.store.rows import a_record
from zurelay.admin.views import RequestView
from zurelay.meter.record import Attempt
from zurelay.meter.view import record_view


def test_the_types_are_what_the_views_make() -> None:
    attempts = [
        Attempt("a:b", 1, "m", "failed", 0.0, 5.0, None, "timeout", 504, "words", "label", 3),
        Attempt("a:c", 2, "m", "ok", 5.0),
    ]
    record = a_record(attempts=attempts, user="u", unpriced=("input",), address="192.0.2.1")
    for operator in (True, False):
        made = record_view(record, operator=operator)
        view = msgspec.convert(made, RequestView)
        assert set(msgspec.to_builtins(view)) == set(made)
        for attempt, typed in zip(made["attempts"], view.attempts, strict=True):
            assert set(msgspec.to_builtins(typed)) == set(attempt)
