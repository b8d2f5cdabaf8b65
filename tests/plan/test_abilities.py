"""Which routes would lose a part of a request, and which have it natively."""

from dataclasses import replace

import pytest

from tests.plan import made
from zurelay.chat.profile import Profile
from zurelay.formats.base import Ability
from zurelay.formats.choose import RESPONSES
from zurelay.plan.abilities import burden, lacking, unsupported
from zurelay.providers.base import Provider


def by(also: tuple[str, ...] = (), **quirks: object) -> Provider:
    found = made.provider(profile=Profile(**quirks))  # type: ignore[arg-type]
    return replace(found, kind=replace(found.kind, also=also))


@pytest.mark.parametrize(
    ("kinds", "tools", "need", "lost"),
    [
        (("text",), None, Ability.IMAGE, True),
        (("text", "image"), None, Ability.IMAGE, False),
        ((), None, Ability.AUDIO, False),  # what is unknown counts as present
        ((), False, Ability.TOOLS, True),
        ((), None, Ability.TOOLS, False),
        (("text",), None, Ability.JSON_SCHEMA, False),  # only orders routes
    ],
)
def test_what_the_catalogue_denies_is_lost(
    kinds: tuple[str, ...], tools: bool | None, need: Ability, lost: bool
) -> None:
    served = made.served(made.model(kinds=kinds, tools=tools))
    found = lacking(served, made.route(), {need: "path"})
    assert found == (need if lost else None)


@pytest.mark.parametrize(
    ("provider", "lost"),
    [(by(), False), (by(file_parts=False), True), (by((RESPONSES,), file_parts=False), False)],
)
def test_files_are_lost_where_no_endpoint_takes_them(provider: Provider, lost: bool) -> None:
    served = made.served(made.model(kinds=("text", "pdf")))
    found = lacking(served, made.route(provider), {Ability.PDF: "path"})
    assert (found is Ability.PDF) == lost


@pytest.mark.parametrize(
    ("quirks", "needs", "cost"),
    [
        ({}, (Ability.FORCED_TOOL, Ability.JSON_SCHEMA), 0),
        ({"forced_tools": "never"}, (Ability.FORCED_TOOL,), 2),
        ({"forced_tools": "never"}, (Ability.TOOLS,), 0),
        ({"json_schema": "object"}, (Ability.JSON_SCHEMA,), 1),
        ({"schema_with_tools": False}, (Ability.JSON_SCHEMA, Ability.TOOLS), 1),
    ],
)
def test_what_must_be_made_up_for_is_a_burden(
    quirks: dict[str, object], needs: tuple[Ability, ...], cost: int
) -> None:
    served = made.served(made.model())
    assert burden(served, made.route(by(**quirks)), dict.fromkeys(needs, "path")) == cost  # type: ignore[arg-type]


def test_the_refusal_names_the_part_and_its_path() -> None:
    served = made.served(made.model("m", kinds=("text",)))
    problem = unsupported([served], {Ability.TOOLS: "tools", Ability.VIDEO: "messages[0]"})
    assert (problem.code, problem.param) == ("unsupported_content", "messages[0]")
    assert "video" in problem.message


@pytest.mark.parametrize(
    ("format_", "alone", "lost"),
    [("anthropic", False, True), ("anthropic", True, False), ("openai_chat", True, True)],
)
def test_what_lies_in_an_account_is_had_where_nobody_else_uses_it(
    format_: str, alone: bool, lost: bool
) -> None:
    found = made.provider()
    provider = replace(found, kind=replace(found.kind, format=format_), single_tenant=alone)
    served = made.served(made.model("m", kinds=("text",)))
    needs = {Ability.STORED: "container"}
    assert (lacking(served, made.route(provider), needs) is Ability.STORED) == lost


def test_the_refusal_of_a_stored_object_says_why() -> None:
    problem = unsupported([made.served(made.model("m"))], {Ability.STORED: "mcp_servers"})
    assert (problem.code, problem.param) == ("unsupported_content", "mcp_servers")
    assert "share" in problem.message
