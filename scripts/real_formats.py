"""The same question of `make real` by the other two formats: Messages and Responses.

Each with its vendor's own SDK; the answers must be the words that came by Chat Completions.
"""

from typing import Any

from anthropic import Anthropic
from openai import OpenAI

from scripts.real_transcript import QUESTION, Transcript, logged

TURNS: Any = [{"role": "user", "content": QUESTION}]
_LIFE = ("response.created", "response.in_progress", "response.completed")


def messages(client: Anthropic, log: OpenAI, model: str, whole: str, told: Transcript) -> None:
    """Plain, streamed, cut at a word, and counted."""
    told.title("/v1/messages, plain")
    # Newer SDKs have no argument for the temperature.
    asked: dict[str, Any] = {"model": model, "messages": TURNS, "extra_body": {"temperature": 0}}
    raw = client.messages.with_raw_response.create(max_tokens=120, **asked)
    answer = raw.parse()
    text = "".join(block.text for block in answer.content if block.type == "text")
    print(f"   {model}: {text}")
    told.must(text == whole, "the words are those of the chat completion")
    told.must(answer.stop_reason == "end_turn", f"stop reason {answer.stop_reason}")
    used = answer.usage
    told.must(
        used.input_tokens > 0 and used.output_tokens > 0,
        f"usage: {used.input_tokens} in, {used.output_tokens} out",
    )
    entry = logged(log, raw.headers["request-id"])
    told.must(
        entry["status"] == "ok" and entry["usage"]["completion_tokens"] == used.output_tokens,
        "the request log has it, with the same usage",
    )
    counted = client.messages.count_tokens(model=model, messages=TURNS).input_tokens
    told.must(counted > 0, f"counted beforehand: about {counted} tokens")
    _messages_streamed(client, asked, whole, told)
    word = whole.split(" ")[4]
    told.title(f"/v1/messages, stop sequence {word!r}")
    answer = client.messages.create(max_tokens=120, stop_sequences=[word], **asked)
    text = "".join(block.text for block in answer.content if block.type == "text")
    print(f"   {model}: {text}")
    told.must(whole.startswith(text) and word not in text, "the answer ends before it")
    told.must(answer.stop_reason in ("stop_sequence", "end_turn"), f"{answer.stop_reason}")
    told.title("/v1/messages, limit of 5 tokens")
    answer = client.messages.create(max_tokens=5, **asked)
    told.must(answer.stop_reason == "max_tokens", f"stop reason {answer.stop_reason}")


def _messages_streamed(
    client: Anthropic, asked: dict[str, Any], whole: str, told: Transcript
) -> None:
    told.title("/v1/messages, streaming")
    pieces: list[str] = []
    kinds: list[str] = []
    print("   ", end="")
    with client.messages.stream(max_tokens=120, **asked) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "text":
                pieces.append(event.text)
                print(event.text, end="|", flush=True)
        final = stream.get_final_message()
    print()
    told.must(len(pieces) > 5, f"it came in {len(pieces)} pieces")
    told.must("".join(pieces) == whole, "together they are the plain answer")
    told.must(
        (kinds[0], kinds[-1]) == ("message_start", "message_stop"),
        "from message_start to message_stop",
    )
    used = final.usage
    told.must(used.output_tokens > 0, f"usage: {used.input_tokens} in, {used.output_tokens} out")


def responses(client: OpenAI, model: str, whole: str, told: Transcript) -> None:
    """Plain, streamed and cut by a limit."""
    told.title("/v1/responses, plain")
    asked: dict[str, Any] = {"model": model, "input": QUESTION, "temperature": 0}
    raw = client.responses.with_raw_response.create(max_output_tokens=120, **asked)
    answer = raw.parse()
    print(f"   {model}: {answer.output_text}")
    told.must(answer.output_text == whole, "the words are those of the chat completion")
    told.must((answer.status, answer.store) == ("completed", False), "completed, nothing stored")
    used = answer.usage
    told.must(
        used is not None and used.total_tokens == used.input_tokens + used.output_tokens > 0,
        f"usage: {used.input_tokens} + {used.output_tokens} = {used.total_tokens} tokens"
        if used
        else "usage",
    )
    entry = logged(client, raw.headers["x-request-id"])
    told.must(entry["status"] == "ok", "the request log has it")
    told.title("/v1/responses, streaming")
    events = list(client.responses.create(max_output_tokens=120, stream=True, **asked))
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    print("   " + "|".join(pieces))
    told.must(len(pieces) > 5, f"it came in {len(pieces)} pieces")
    told.must("".join(pieces) == whole, "together they are the plain answer")
    kinds = [event.type for event in events]
    told.must((*kinds[:2], kinds[-1]) == _LIFE, f"{len(kinds)} events from created to completed")
    numbers = [event.sequence_number for event in events]
    told.must(numbers == list(range(len(numbers))), "their numbers have no gap")
    told.title("/v1/responses, limit of 16 tokens")
    answer = client.responses.create(max_output_tokens=16, **asked)
    reason = answer.incomplete_details.reason if answer.incomplete_details else None
    told.must(
        (answer.status, reason) == ("incomplete", "max_output_tokens"), f"{answer.status}: {reason}"
    )
