"""The conversation of `make real`: the official SDKs against a gateway in front of a real model.

Prints a transcript and a line for each thing that must hold; ends with exit code 1 if one does not.
Address and key come from the SDK's own variables. Knows nothing of how gateway and model run.
"""

import os
import sys
from typing import Any

from anthropic import Anthropic
from openai import OpenAI

from scripts.real_formats import messages, responses
from scripts.real_transcript import QUESTION, Transcript, logged


def ask(client: OpenAI, model: str, **options: Any) -> Any:
    """One question, always answered alike: no randomness."""
    return client.chat.completions.with_raw_response.create(
        model=model,
        messages=[{"role": "user", "content": QUESTION}],
        temperature=0,
        seed=1,
        **options,
    )


def plain(client: OpenAI, model: str, told: Transcript) -> str:
    """A plain answer; returns its text."""
    told.title("plain")
    raw = ask(client, model, max_tokens=120)
    answer = raw.parse()
    text = answer.choices[0].message.content or ""
    print(f"   {model}: {text}")
    told.must(len(text) > 20, "a text came")
    told.must(answer.model == model, f"the model is named {answer.model}")
    told.must(answer.choices[0].finish_reason == "stop", "it ended by itself")
    usage = answer.usage
    told.must(
        usage.prompt_tokens > 0
        and usage.completion_tokens > 0
        and usage.total_tokens == usage.prompt_tokens + usage.completion_tokens,
        f"usage: {usage.prompt_tokens} + {usage.completion_tokens} = {usage.total_tokens} tokens",
    )
    request_id = raw.headers["x-request-id"]
    entry = logged(client, request_id)
    told.must(entry["status"] == "ok", f"the request log has {request_id}: {entry['status']}")
    told.must(entry["usage"]["total_tokens"] == usage.total_tokens, "with the same usage")
    return text


def streaming(client: OpenAI, model: str, whole: str, told: Transcript) -> None:
    """The same answer as a stream, with its usage."""
    told.title("streaming")
    raw = ask(client, model, max_tokens=120, stream=True, stream_options={"include_usage": True})
    pieces: list[str] = []
    usage = None
    print("   ", end="")
    for chunk in raw.parse():
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.delta.content:
                pieces.append(choice.delta.content)
                print(choice.delta.content, end="|", flush=True)
    print()
    told.must(len(pieces) > 5, f"it came in {len(pieces)} pieces")
    told.must("".join(pieces) == whole, "together they are the plain answer")
    told.must(
        usage is not None and usage.total_tokens > 0,
        f"the last chunk has the usage: {usage.total_tokens if usage else None} tokens",
    )
    entry = logged(client, raw.headers["x-request-id"])
    told.must(
        entry["status"] == "ok" and entry["stream"] and entry["first_token_ms"] is not None,
        f"the request log has it: first token after {entry['first_token_ms']} ms",
    )


def stop_sequence(client: OpenAI, model: str, whole: str, told: Transcript) -> None:
    """The fifth word of the answer as a stop sequence."""
    word = whole.split(" ")[4]
    told.title(f"stop sequence {word!r}")
    answer = ask(client, model, max_tokens=120, stop=[word]).parse()
    text = answer.choices[0].message.content or ""
    print(f"   {model}: {text}")
    told.must(whole.startswith(text) and word not in text, "the answer ends before it")
    told.must(answer.choices[0].finish_reason == "stop", "finish reason stop")


def token_limit(client: OpenAI, model: str, told: Transcript) -> None:
    """A limit too small for the answer, by its newer name."""
    told.title("limit of 5 tokens")
    answer = ask(client, model, max_completion_tokens=5).parse()
    print(f"   {model}: {answer.choices[0].message.content}")
    told.must(answer.choices[0].finish_reason == "length", "finish reason length")
    told.must(answer.usage.completion_tokens <= 5, f"{answer.usage.completion_tokens} tokens came")


def main() -> int:
    """The whole conversation."""
    client = OpenAI(max_retries=0, timeout=120)
    model = os.environ["REAL_MODEL"]
    told = Transcript()
    told.title("models")
    listed = [entry.id for entry in client.models.list()]
    told.must(model in listed, f"the gateway lists {model}")
    whole = plain(client, model, told)
    streaming(client, model, whole, told)
    stop_sequence(client, model, whole, told)
    token_limit(client, model, told)
    origin = os.environ["OPENAI_BASE_URL"].removesuffix("/v1")
    key = os.environ["OPENAI_API_KEY"]
    claude = Anthropic(base_url=origin, api_key=key, max_retries=0, timeout=120)
    messages(claude, client, model, whole, told)
    responses(client, model, whole, told)
    print(f"\n{'all of it held' if not told.misses else f'{told.misses} misses'}")
    return 1 if told.misses else 0


if __name__ == "__main__":
    sys.exit(main())
