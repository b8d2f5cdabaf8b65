import json
from typing import Any

import pytest

from tests.sandbox.calling import CITY, WHO, call, frames, whole
from zurelay.chat.usage import Usage
from zurelay.sandbox.base import Answer
from zurelay.sandbox.gemini import usage_object
from zurelay.sandbox.gemini_contents import SKIP
from zurelay.sandbox.proofs import proof
from zurelay.sandbox.service import answer

USER = {"role": "user", "parts": [{"text": "Hello there"}]}
DECLARED = [{"name": name, "parametersJsonSchema": CITY} for name in ("get_weather", "get_time")]
TOOLS = [{"functionDeclarations": DECLARED}]
SHOWN: dict[str, Any] = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}


def ask(model: str, method: str = "generateContent", **fields: Any) -> Answer:
    return call(f"/v1beta/models/{model}:{method}", {"contents": [USER], **fields})


def configured(model: str, **config: Any) -> Answer:
    return ask(model, generationConfig=config)


def streamed(model: str, **fields: Any) -> list[Any]:
    return [data for _, data in frames(ask(model, "streamGenerateContent", **fields))]


def parts(body: Any) -> list[Any]:
    return body["candidates"][0].get("content", {}).get("parts", [])  # type: ignore[no-any-return]


def error(told: Answer) -> dict[str, Any]:
    return whole(told)["error"]  # type: ignore[no-any-return]


def said(all_parts: list[Any]) -> dict[str, Any]:
    """What a client takes from the parts of a whole answer or of all pieces."""
    return {
        "thoughts": "".join(part["text"] for part in all_parts if part.get("thought")),
        "text": "".join(part.get("text", "") for part in all_parts if not part.get("thought")),
        "calls": [part["functionCall"] for part in all_parts if "functionCall" in part],
        "signatures": [p["thoughtSignature"] for p in all_parts if "thoughtSignature" in p],
    }


@pytest.mark.parametrize(
    "model",
    [
        "echo",
        "lorem?tokens=7",
        "reasoning",
        "tools",
        "json",
        "refusal",
        "usage?prompt=100&cached=60&completion=9&reasoning=4",
    ],
)
def test_a_stream_says_what_the_plain_answer_says(model: str) -> None:
    fields: dict[str, Any] = {**SHOWN, **({"tools": TOOLS} if model == "tools" else {})}
    plain = whole(ask(model, **fields))
    pieces = streamed(model, **fields)
    assert said([part for piece in pieces for part in parts(piece)]) == said(parts(plain))
    reasons = [piece["candidates"][0].get("finishReason") for piece in pieces]
    assert reasons == [None] * (len(pieces) - 1) + [plain["candidates"][0]["finishReason"]]
    assert pieces[-1]["usageMetadata"] == plain["usageMetadata"]
    assert plain["responseId"] == "abc"


def test_the_question_comes_back() -> None:
    plain = whole(ask("echo"))
    assert parts(plain) == [{"text": "Hello there"}]
    assert plain["candidates"][0]["finishReason"] == "STOP"
    assert plain["modelVersion"] == "echo"


@pytest.mark.parametrize("model", ["sandbox/lorem?tokens=2", "sandbox%2Florem%3Ftokens%3D2"])
def test_the_model_stands_in_the_path(model: str) -> None:
    assert whole(ask(model))["usageMetadata"]["candidatesTokenCount"] == 2


def test_counts_hold_thoughts_apart() -> None:
    told = usage_object(Usage(input=5, cached_input=3, cache_write=2, output=9, reasoning=4))
    assert (told["promptTokenCount"], told["cachedContentTokenCount"]) == (10, 3)
    assert (told["candidatesTokenCount"], told["thoughtsTokenCount"]) == (5, 4)
    assert told["totalTokenCount"] == 19


def test_thoughts_are_shown_on_request_alone() -> None:
    hidden, shown = whole(ask("reasoning")), whole(ask("reasoning", **SHOWN))
    assert [part.get("thought") for part in parts(shown)] == [True, None]
    assert [part.get("thought") for part in parts(hidden)] == [None]
    assert hidden["usageMetadata"] == shown["usageMetadata"]
    assert hidden["usageMetadata"]["thoughtsTokenCount"] == 60


@pytest.mark.parametrize(
    ("thinking", "tokens"),
    [
        ({"thinkingLevel": "HIGH"}, 150),
        ({"thinkingLevel": "MINIMAL"}, 8),
        ({"thinkingBudget": 0}, None),
        ({"thinkingBudget": -1}, 60),
        ({"thinkingBudget": 4096}, 20),
    ],
)
def test_thinking_follows_level_or_budget(thinking: dict[str, Any], tokens: int | None) -> None:
    plain = whole(configured("reasoning", thinkingConfig=thinking))
    assert plain["usageMetadata"].get("thoughtsTokenCount") == tokens


def test_calls_are_whole_and_the_first_is_signed() -> None:
    first, second = parts(whole(ask("tools", tools=TOOLS)))
    assert first["functionCall"]["name"] == "get_weather"
    assert isinstance(first["functionCall"]["args"]["city"], str)
    assert first["thoughtSignature"] == proof("get_weather")
    assert "thoughtSignature" not in second


@pytest.mark.parametrize(
    ("calling", "names"),
    [
        ({"mode": "AUTO"}, ["get_weather", "get_time"]),
        ({"mode": "ANY", "allowedFunctionNames": ["get_time"]}, ["get_time"]),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["get_time"]}, ["get_time"]),
        ({"mode": "ANY"}, ["get_weather", "get_time"]),
        ({"mode": "NONE"}, []),
    ],
)
def test_the_calling_mode_is_heeded(calling: dict[str, Any], names: list[str]) -> None:
    plain = whole(ask("tools", tools=TOOLS, toolConfig={"functionCallingConfig": calling}))
    assert [call["name"] for call in said(parts(plain))["calls"]] == names


def called(signature: str | None, *answers: str, call_id: str | None = "a") -> list[Any]:
    made: dict[str, Any] = {"name": "get_weather", "args": {}}
    part: dict[str, Any] = {"functionCall": made | ({"id": call_id} if call_id else {})}
    if signature is not None:
        part["thoughtSignature"] = signature
    responses = [
        {"functionResponse": {"name": name, "response": {"output": "Sunny"}}} for name in answers
    ]
    return [USER, {"role": "model", "parts": [part]}, {"role": "user", "parts": responses}]


@pytest.mark.parametrize("call_id", ["a", None])
@pytest.mark.parametrize("signature", [proof("get_weather"), SKIP])
def test_responses_are_answered_from(signature: str, call_id: str | None) -> None:
    contents = called(signature, "get_weather", call_id=call_id)
    plain = whole(ask("tools", tools=TOOLS, contents=contents))
    assert parts(plain)[0]["text"] == "From the tool results: get_weather answered: Sunny"


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (called(None, "get_weather"), "missing a thought_signature"),
        (called(proof("get_time"), "get_weather"), "Corrupted thought signature."),
        (called(SKIP, "get_weather", "get_weather"), "number of function response parts"),
        (called(SKIP, "get_time"), "No function call of the turn before"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "valid role"),
        ([{"role": "user", "parts": []}], "must not be empty"),
        ([{"role": "user", "parts": [{"type": "text"}]}], "Unknown or missing data"),
    ],
)
def test_conversations_out_of_order_are_refused(contents: list[Any], message: str) -> None:
    told = ask("tools", tools=TOOLS, contents=contents)
    assert told.status == 400
    assert error(told)["status"] == "INVALID_ARGUMENT"
    assert message in error(told)["message"]


def test_of_parallel_calls_one_is_signed_and_each_is_answered_by_name() -> None:
    names = ("get_weather", "get_time")
    calls: list[dict[str, Any]] = [{"functionCall": {"name": name, "args": {}}} for name in names]
    calls[0]["thoughtSignature"] = proof("get_weather")
    answers = [
        {"functionResponse": {"name": name, "response": {"output": f"{name}!"}}}
        for name in reversed(names)
    ]
    contents = [USER, {"role": "model", "parts": calls}, {"role": "user", "parts": answers}]
    plain = whole(ask("tools", tools=TOOLS, contents=contents))
    assert parts(plain)[0]["text"] == (
        "From the tool results: get_time answered: get_time!; get_weather answered: get_weather!"
    )


def test_calls_of_earlier_turns_need_no_signature() -> None:
    ended = {"role": "model", "parts": [{"text": "Sunny."}]}
    contents = [*called(None, "get_weather"), ended, USER]
    assert ask("tools", tools=TOOLS, contents=contents).status == 200


def test_json_fits_either_kind_of_schema() -> None:
    mime = {"responseMimeType": "application/json"}
    google = {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]}
    for schema in ({"responseJsonSchema": CITY}, {"responseSchema": google}):
        plain = whole(configured("json", **mime, **schema))
        assert isinstance(json.loads(parts(plain)[0]["text"])["city"], str)


def test_a_refusal_is_a_finish_reason_without_content() -> None:
    (candidate,) = whole(ask("refusal"))["candidates"]
    assert candidate["finishReason"] == "SAFETY"
    assert "can't help" in candidate["finishMessage"]
    assert "content" not in candidate
    limited = whole(configured("refusal", maxOutputTokens=1))
    assert limited["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_the_limit_holds_for_each_of_many_candidates() -> None:
    plain = whole(configured("lorem", maxOutputTokens=3, candidateCount=2))
    assert [one["finishReason"] for one in plain["candidates"]] == ["MAX_TOKENS"] * 2
    assert plain["usageMetadata"]["candidatesTokenCount"] == 6


def test_a_call_that_the_limit_cuts_is_none() -> None:
    body = {"contents": [USER], "tools": TOOLS, "generationConfig": {"maxOutputTokens": 2}}
    plain = whole(call("/v1beta/models/tools:generateContent", body))
    assert (parts(plain), plain["candidates"][0]["finishReason"]) == ([], "MAX_TOKENS")


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"stopSequences": list("abcdef")}, "generation_config.stop_sequences"),
        ({"candidateCount": 9}, "generation_config.candidate_count"),
        ({"maxOutputTokens": 0}, "generation_config.max_output_tokens"),
        ({"responseJsonSchema": CITY}, "generation_config.response_mime_type"),
        ({"thinkingConfig": {"thinkingLevel": "TINY"}}, "thinking_level"),
        (
            {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 1}},
            "generation_config.thinking_config",
        ),
        ({"max_tokens": 5}, "generationConfig"),
    ],
)
def test_fields_are_checked_as_there(config: dict[str, Any], field: str) -> None:
    told = configured("echo", **config)
    assert told.status == 400
    (detail,) = error(told)["details"]
    assert field in detail["fieldViolations"][0]["field"]


@pytest.mark.parametrize(
    ("model", "code", "status"),
    [
        ("error?status=401", 401, "UNAUTHENTICATED"),
        ("error?status=503", 503, "UNAVAILABLE"),
        ("error?status=502", 502, "INTERNAL"),
        ("error?status=418", 418, "INVALID_ARGUMENT"),
        ("ecko", 404, "NOT_FOUND"),
    ],
)
def test_errors_have_their_status_words(model: str, code: int, status: str) -> None:
    told = ask(model)
    assert told.status == code
    assert (error(told)["code"], error(told)["status"]) == (code, status)


def test_the_wait_stands_in_the_body() -> None:
    told = ask("rate-limit?retry_after=7")
    assert "retry-after" not in dict(told.headers)
    assert error(told)["details"][-1]["retryDelay"] == "7s"
    assert error(told)["status"] == "RESOURCE_EXHAUSTED"


def test_an_error_says_what_it_is_told_to() -> None:
    told = error(ask("error?status=400&code=api_key_invalid"))
    assert told["details"][0]["reason"] == "API_KEY_INVALID"
    told = error(ask("error?status=400&code=context_length_exceeded"))
    assert told["message"].startswith("The input token count (")


def test_an_error_can_come_in_the_stream() -> None:
    *pieces, last = streamed("error?status=500&after=3")
    assert len(pieces) == 3
    assert last["error"]["status"] == "INTERNAL"


def test_a_broken_answer_has_no_finish_reason() -> None:
    pieces = streamed("cut?after=3")
    assert len(pieces) == 3
    assert not any("finishReason" in piece["candidates"][0] for piece in pieces)


@pytest.mark.parametrize("inside", [True, False])
def test_tokens_are_counted_without_an_answer(inside: bool) -> None:
    body: dict[str, Any] = {"contents": [USER]}
    if inside:
        body = {"generateContentRequest": {"model": "models/x", **body}}
    told = call("/v1beta/models/usage?prompt=77&cached=0:countTokens", body)
    assert whole(told) == {"totalTokens": 77}


def test_models_are_listed_in_their_shape() -> None:
    listed = whole(answer("GET", "/v1beta/models", b"", WHO))["models"]
    assert "models/echo" in [model["name"] for model in listed]
