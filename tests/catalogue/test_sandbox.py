from zurelay.catalogue.load import standard
from zurelay.catalogue.model import FREE, Reasoning
from zurelay.catalogue.sandbox import SANDBOX_MODELS
from zurelay.chat.effort import SCALE


def test_all_sandbox_models_are_there_and_cost_nothing() -> None:
    names = (
        "echo lorem reasoning tools json slow stall cut error rate-limit refusal usage embedding"
    )
    assert [model.id for model in SANDBOX_MODELS] == [f"sandbox/{n}" for n in names.split()]
    assert all(model.price == FREE for model in SANDBOX_MODELS)


def test_only_the_reasoning_model_has_levels() -> None:
    with_levels = {
        m.id: m.reasoning for m in SANDBOX_MODELS if m.reasoning not in (None, Reasoning())
    }
    assert with_levels == {"sandbox/reasoning": Reasoning(SCALE, "medium")}


def test_they_are_part_of_the_standard_catalogue() -> None:
    assert standard().by_vendor["sandbox"] == SANDBOX_MODELS
