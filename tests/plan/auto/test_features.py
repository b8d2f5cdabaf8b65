"""What is seen of a request, in every format that callers speak."""

import json

import pytest

from tests.plan.auto.made import IMAGE, SCHEMA, TOOLS, asking
from zurelay.formats.anthropic.front import MessagesFront
from zurelay.formats.openai_responses.front import ResponsesFront
from zurelay.plan.auto.features import MANY_TURNS, features

CODE = "def add(a, b):\n    return a + b"


def turns(count: int, content: str = "Go on.") -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": content} for place in range(count)]


def test_a_short_question_is_chat_and_nothing_else() -> None:
    seen = features(asking("How are you?"))
    assert (seen.kind, seen.turns, seen.code, seen.tools, seen.media) == (
        "chat",
        1,
        False,
        False,
        (),
    )
    assert (seen.script, seen.long, seen.effort, seen.output) == ("latin", False, None, None)


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (asking(CODE), "code"),
        (asking("```\nx\n```"), "code"),
        (asking("Extract it", response_format=SCHEMA), "extraction"),
        (asking("word " * 30_000), "long document"),
        (asking("", messages=IMAGE), "vision"),
        (asking("Do it", tools=TOOLS), "chat"),
        (asking("", messages=turns(5), tools=TOOLS), "agent"),
        (asking("", messages=turns(5)), "chat"),
    ],
)
def test_the_kind_of_a_request(request_: object, kind: str) -> None:
    assert features(request_).kind == kind  # type: ignore[arg-type]


def test_one_word_that_code_has_too_is_no_code() -> None:
    assert not features(asking("We import tea.")).code
    assert features(asking("import os\nclass A: pass")).code


def test_turns_are_counted_not_guessed_from_text() -> None:
    assert features(asking("", messages=turns(MANY_TURNS))).turns == MANY_TURNS
    assert features(asking('{"role": "x", "role": "y"}')).turns == 1


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("今日はとても良い天気ですね。", "other"),
        ("Какая сегодня погода?", "other"),
        ("Où est la bibliothèque, s'il vous plaît ?", "latin"),
        ("“Quoted” — and dashes — all of it…", "latin"),
        ("Ein Wort wie 東 ist noch kein anderer Text, auch wenn es dasteht.", "latin"),
    ],
)
def test_scripts_are_told_apart_however_the_json_was_written(
    text: str, script: str, ascii_only: bool
) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    from zurelay.formats.openai_chat.front import ChatFront

    inbound = ChatFront().read(json.dumps(body, ensure_ascii=ascii_only).encode())
    assert features(inbound).script == script


def test_code_is_found_at_both_ends_of_a_long_conversation() -> None:
    padding = "plain words " * 2000
    assert features(asking(f"```x```{padding}")).code
    assert features(asking(f"{padding}```x```")).code


def test_the_other_formats_are_seen_alike() -> None:
    messages = {"model": "m", "max_tokens": 9, "messages": turns(3, "```")}
    seen = features(MessagesFront().read(json.dumps(messages).encode()))
    assert (seen.turns, seen.code, seen.output) == (3, True, 9)
    responses = {"model": "m", "input": turns(3, "```")}
    seen = features(ResponsesFront().read(json.dumps(responses).encode()))
    assert (seen.turns, seen.code, seen.output) == (3, True, None)
    seen = features(ResponsesFront().read(json.dumps({"model": "m", "input": "Hi"}).encode()))
    assert (seen.turns, seen.kind) == (1, "chat")
