import msgspec
import pytest

from tests.store.rows import a_record
from zurelay.chat.usage import Usage
from zurelay.live.records import MOST_COST, MOST_TOKENS, bound, encode_record
from zurelay.meter.record import Attempt, RequestRecord


def decoded(record: RequestRecord) -> RequestRecord:
    bound(record)
    return msgspec.json.decode(encode_record(record), type=RequestRecord)


def test_a_record_survives_the_way_through_json() -> None:
    record = a_record(user="\N{SNOWMAN}\0\n", unpriced=("audio_input",))
    assert decoded(record) == record


@pytest.mark.parametrize("cost", [-1, MOST_COST + 1, 2**63, 10**40])
def test_a_cost_no_column_holds_is_cut_and_marked(cost: int) -> None:
    record = a_record(cost=cost)
    found = decoded(record)
    assert found == record
    assert found.cost in (0, MOST_COST)
    assert found.cost_estimated


@pytest.mark.parametrize(
    "usage", [Usage(input=10**30), Usage(output=MOST_TOKENS + 1), Usage(input=5, cached_input=-3)]
)
def test_token_counts_that_cannot_be_true_are_cut_and_marked(usage: Usage) -> None:
    found = decoded(a_record(usage=usage)).usage
    assert found is not None
    assert found.estimated
    assert min(found.input, found.cached_input, found.output) >= 0
    assert max(found.input, found.output) <= MOST_TOKENS


def test_the_largest_true_numbers_stay_as_they_are() -> None:
    record = a_record(cost=MOST_COST, usage=Usage(input=MOST_TOKENS, output=MOST_TOKENS))
    assert decoded(record) == record
    assert not record.cost_estimated


def test_half_a_surrogate_pair_does_not_lose_the_record() -> None:
    bad = "a\ud800b"
    record = a_record(
        user=bad,
        metadata={bad: bad},
        attempts=[Attempt("r", 1, "m", "failed", 0.0, detail=bad)],
    )
    found = decoded(record)
    assert found.user == "a?b"
    assert found.metadata == {"a?b": "a?b"}
    assert found.attempts[0].detail == "a?b"
    assert found == record
