"""The pages a person sees."""

import pytest

from tests.api.wire import Caller, get


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_the_page_says_what_runs_here_and_lets_no_script_in(
    caller: Caller, path: str
) -> None:
    caller.write(get(path))
    answer = await caller.answer()
    assert answer.status == 200
    assert b"Brand &lt;b&gt;" in answer.body
    assert b"http://x/v1/chat/completions" in answer.body
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert b"<script" not in answer.body


async def test_another_path_is_a_404_in_json(caller: Caller) -> None:
    caller.write(get("/nothing"))
    answer = await caller.answer()
    assert (answer.status, answer.json["error"]["code"]) == (404, "not_found")
