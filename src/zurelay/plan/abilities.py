"""Which routes would lose a part of a request.

What is unknown counts as present. It does not know wire formats: only what the catalogue says of
a model and a provider's row of its host.
"""

from collections.abc import Mapping, Sequence

from zurelay.catalogue.model import Model
from zurelay.chat.problems import Problem, invalid_value, unsupported_content
from zurelay.formats.base import Ability
from zurelay.formats.choose import RESPONSES
from zurelay.plan.route import Route, ServedModel
from zurelay.providers.base import Kind

_NAMES = {
    Ability.TOOLS: "tools",
    Ability.IMAGE: "images",
    Ability.PDF: "PDF files",
    Ability.AUDIO: "audio",
    Ability.VIDEO: "video",
    Ability.STORED: "objects stored at a provider",
}
"""What excludes a route, in the caller's words. Every other ability only orders routes."""

_HAS_EMBEDDINGS = "openai_chat"
"""Providers that speak this format have OpenAI's embeddings beside it."""

_STORES = "anthropic"
"""Of the formats that callers speak, the one whose requests may name what a provider stores."""

_OTHERS = "refers to an account at a provider that the gateway's callers share"


def lacking(served: ServedModel, route: Route, needs: Mapping[Ability, str]) -> Ability | None:
    """The first part of a request that the route would lose."""
    for ability in needs:
        if ability in _NAMES and not _has(served, route, ability):
            return ability
    return None


def named(ability: Ability) -> str:
    """In the caller's words, what excludes routes; empty for what only orders them."""
    return _NAMES.get(ability, "")


def gives(model: Model, mode: str) -> bool:
    """Whether the model gives what is asked for, answers (`chat`) or `embeddings`."""
    return not model.mode or model.mode == mode


def serves(route: Route, mode: str) -> bool:
    """Whether the route's provider has an endpoint for it."""
    return mode == "chat" or route.provider.kind.format == _HAS_EMBEDDINGS


def wrong_mode(model: Model, mode: str, param: str = "model") -> Problem:
    """The answer where a model is asked for what it does not give."""
    if mode == "embeddings":
        told = f"The model '{model.id}' makes no embeddings here; ask one that does."
    else:
        told = f"The model '{model.id}' makes embeddings, not answers: POST /v1/embeddings."
    return invalid_value(param, told)


def burden(served: ServedModel, route: Route, needs: Mapping[Ability, str]) -> int:
    """How much of a request the gateway must make up for on this route; 0 where all is native."""
    if Ability.FORCED_TOOL not in needs and Ability.JSON_SCHEMA not in needs:
        return 0
    profile = (route.model or served.model).profile(route.provider.kind.profile)
    total = 0
    if Ability.FORCED_TOOL in needs:
        total += ("always", "not_thinking", "never").index(profile.forced_tools)
    if Ability.JSON_SCHEMA in needs:
        total += ("schema", "object", "none").index(profile.json_schema)
        total += Ability.TOOLS in needs and not profile.schema_with_tools
    return total


def unsupported(models: Sequence[ServedModel], needs: Mapping[Ability, str]) -> Problem:
    """The answer when every route of `models` would lose something; names the part to take out."""
    routes = [(served, route) for served in models for route in served.routes]
    wanted = [ability for ability in needs if ability in _NAMES]
    nowhere = [a for a in wanted if not any(_has(served, route, a) for served, route in routes)]
    named = nowhere[0] if nowhere else lacking(*routes[0], needs) or wanted[0]
    if named is Ability.STORED:
        told = f"'{needs[named]}' {_OTHERS}; leave it out, or send the content itself."
        return unsupported_content(needs[named], told)
    return unsupported_content(
        needs[named],
        f"The model '{models[0].model.id}' does not take {_NAMES[named]} here. Leave them out, or"
        " use a model whose input_modalities in GET /v1/models name them.",
    )


def _has(served: ServedModel, route: Route, ability: Ability) -> bool:
    here = route.model or served.model
    if ability is Ability.STORED:
        provider = route.provider
        return provider.single_tenant and provider.kind.format == _STORES
    if ability is Ability.TOOLS:
        tools = served.model.tools if here.tools is None else here.tools
        return tools is not False
    if ability is Ability.PDF and not _takes_files(here, route.provider.kind):
        return False
    kinds = here.input or served.model.input
    return not kinds or ability.value in kinds


def _takes_files(model: Model, kind: Kind) -> bool:
    return RESPONSES in kind.also or model.profile(kind.profile).file_parts
