"""Items of an answer, one by one."""

import pytest

from zurelay.formats.openai_responses.output import (
    call_item,
    custom_input,
    proof_item,
    text_part,
)


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
    assert call_item("fc_1", "c", "f", "{}", "completed", custom=False)["arguments"] == "{}"
    assert call_item("ctc_1", "c", "f", "x", "completed", custom=True)["input"] == "x"
    assert proof_item("rs_1", "", None) == {"id": "rs_1", "type": "reasoning", "summary": []}
