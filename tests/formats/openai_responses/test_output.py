"""Items of an answer, one by one."""

import pytest

from tests.formats.openai_responses.answered import CUSTOM, FUNCTION
from zurelay.formats.openai_responses.output import (
    call_item,
    called,
    custom_input,
    proof_item,
    text_part,
)
from zurelay.formats.openai_responses.toolbox import Offered


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"input":"+x"}', "+x"),
        ('{"input":""}', ""),
        ('{"other":1}', '{"other":1}'),
        ('{"input":7}', '{"input":7}'),
        ("+x", "+x"),
        ("", ""),
    ],
)
def test_a_custom_tool_gets_its_text_or_all_there_is(arguments: str, text: str) -> None:
    assert custom_input(arguments) == text


def test_items_name_what_they_hold() -> None:
    assert text_part("refusal", "No") == {"type": "refusal", "refusal": "No"}
    assert call_item("fc_1", "c", Offered(FUNCTION), "{}", "completed")["arguments"] == "{}"
    assert call_item("ctc_1", "c", Offered(CUSTOM), "x", "completed")["input"] == "x"
    assert proof_item("rs_1", "", None) == {"id": "rs_1", "type": "reasoning", "summary": []}


def test_a_call_says_the_namespace_of_its_tool_and_only_where_there_is_one() -> None:
    inside = Offered(FUNCTION, "clock")
    item = call_item("fc_1", "c", called("clock__f", {"clock__f": inside}), "{}", "completed")
    assert (item["name"], item["namespace"]) == ("f", "clock")
    item = call_item("fc_1", "c", called("nobodys", {"clock__f": inside}), "{}", "completed")
    assert (item["type"], item["name"]) == ("function_call", "nobodys")
    assert "namespace" not in item
