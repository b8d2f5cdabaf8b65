"""The smart choice in the list of models."""

from tests.plan.auto.made import AT, a_key, a_model, serving, usd
from tests.plan.made import fail, provider, route
from zurelay.access.keys import Key
from zurelay.catalogue.model import Reasoning
from zurelay.chat.faults import FaultKind
from zurelay.plan.auto.choose import Caller
from zurelay.plan.auto.listing import Listed, listed
from zurelay.plan.health import Health

TABLE = serving(
    a_model(
        "a", usd(1, 9), context=10, kinds=("text", "audio"), reasoning=Reasoning(("none", "low"))
    ),
    a_model(
        "b", usd(2, 5), max_output=90_000, kinds=("text", "image"), reasoning=Reasoning(("max",))
    ),
    a_model("c", context=10**9),
)


def shown(key: Key | None = None, health: Health | None = None) -> Listed | None:
    assert TABLE.auto is not None
    key = key or a_key()
    caller = Caller("acct", key.may_use, key)
    return listed(TABLE, TABLE.auto, caller, health=health or Health(), now=0.0, at=AT)


def test_it_can_what_any_of_its_candidates_can() -> None:
    found = shown()
    assert found is not None
    model = found.model
    assert (model.id, model.context, model.max_output) == ("zurelay-auto", 100_000, 90_000)
    assert model.input == ("text", "image", "audio")
    assert model.reasoning == Reasoning(("none", "low", "max"))
    assert [price.classes["input"] // 10**12 for price, _ in found.prices] == [1, 2]
    assert found.routes_up == 2


def test_it_is_what_the_key_may_have_chosen() -> None:
    found = shown(a_key(models=("a",)))
    assert found is not None
    assert found.model.context == 10
    assert shown(a_key(models=("c",))) is None


def test_routes_that_are_down_are_not_counted() -> None:
    health = Health()
    fail(health, route(provider("at-a"), "a"), FaultKind.RATE_LIMITED, retry_after=60)
    found = shown(health=health)
    assert found is not None
    assert found.routes_up == 1
