"""What the Idempotency-Key is for: an SDK's own retry after its time-out is not paid twice."""

import uuid

from openai import OpenAI

from tests.served import Served


def test_a_retry_after_a_time_out_gets_the_answer_of_the_first_try(served: Served) -> None:
    tries: list[str] = []
    client = OpenAI(base_url=served.base_url, api_key=served.key, timeout=0.4, max_retries=5)
    client._client.event_hooks["request"].append(lambda request: tries.append(request.method))
    key = {"Idempotency-Key": str(uuid.uuid4())}
    with client:
        raw = client.chat.completions.with_raw_response.create(
            model="sandbox/slow?first=0.8",
            messages=[{"role": "user", "content": "Hello"}],
            extra_headers=key,
        )
        assert len(tries) > 1
        request = raw.headers["x-request-id"]
        row = client.get(f"/requests/{request}", cast_to=object)
    assert isinstance(row, dict)
    assert row["status"] == "ok"
    assert row["duration_ms"] >= 800
    assert len(row["attempts"]) == 1
