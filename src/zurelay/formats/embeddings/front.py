"""The front that reads requests for embeddings."""

import msgspec
from msgspec import Raw, Struct

from zurelay.chat import problems
from zurelay.chat.estimate import measure
from zurelay.chat.problems import Problem, Refused
from zurelay.formats import json_body
from zurelay.formats.base import Inbound
from zurelay.formats.embeddings import NAME
from zurelay.formats.openai_chat import checks, errors
from zurelay.formats.openai_chat.invalid import invalid, missing, of_decoder
from zurelay.formats.openai_chat.view import given
from zurelay.wire import json

MOST_INPUTS = 2048
_BYTES_PER_TOKEN = 4
_INPUT = "a string, a list of strings, a list of tokens or a list of lists of tokens, none empty"


class _View(Struct):
    model: str | None = None
    input: Raw = Raw(b"null")
    dimensions: int | None = None
    encoding_format: str | None = None
    stream: bool | None = None
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None


_VIEW = msgspec.json.Decoder(_View)


class EmbeddingsFront:
    """See `formats.base.Front`."""

    name = NAME
    answer_prefix = "embd-"
    keep_alive = keep_alive_inside = b""
    headers: tuple[str, ...] = ()

    def read(self, body: bytes) -> Inbound:
        """Validate a decoded body; raises Refused naming the field and what would be right."""
        fields = json_body.fields(body)
        try:
            view = _VIEW.decode(body)
        except msgspec.ValidationError as error:
            raise Refused(of_decoder(error)) from None
        except msgspec.DecodeError as error:
            raise Refused(json_body.bad(str(error))) from None
        if not view.model:
            raise Refused(
                missing("model") if view.model is None else invalid("model", "an empty string")
            )
        checks.stays_here(view)
        _check_options(view)
        count, length = _inputs(view.input)
        return Inbound(
            front=NAME,
            body=fields,
            model=view.model,
            mode="embeddings",
            # Vectors of another model mean something else: there is none to fall back to.
            alternatives=(),
            max_output=0,
            choices=count,
            user=view.user,
            metadata=view.metadata,
            safety_identifier=view.safety_identifier,
            text_length=length,
        )

    def problem_body(self, problem: Problem, request_id: str) -> tuple[int, bytes]:  # noqa: ARG002 - other formats show it
        """Status and JSON body of an error answer."""
        return problem.status, errors.problem_body(problem)

    def problem_event(self, problem: Problem, request_id: str) -> bytes:  # noqa: ARG002 - likewise
        """The error as an event; no embeddings are streamed."""
        return b"data: " + errors.problem_body(problem) + b"\n\n"


def _check_options(view: _View) -> None:
    if view.stream:
        raise Refused(problems.invalid_value("stream", "Embeddings are not streamed."))
    if view.dimensions is not None and view.dimensions < 1:
        told = f"'dimensions' must be at least 1, not {view.dimensions}."
        raise Refused(problems.invalid_value("dimensions", told))
    if view.encoding_format not in (None, "float", "base64"):
        told = "'encoding_format' must be 'float' or 'base64'."
        raise Refused(problems.invalid_value("encoding_format", told))


def _inputs(raw: Raw) -> tuple[int, int]:
    """How many inputs there are, and their length as `chat.estimate.measure` counts."""
    if not given(raw):
        raise Refused(problems.missing("input", f"Missing required parameter: 'input', {_INPUT}."))
    inputs = _listed(json.decode(raw))
    if not inputs:
        raise Refused(problems.invalid_value("input", f"'input' must be {_INPUT}."))
    if len(inputs) > MOST_INPUTS:
        told = f"'input' takes at most {MOST_INPUTS} texts, but got {len(inputs)}."
        raise Refused(problems.invalid_value(f"input[{MOST_INPUTS}]", told))
    for place, item in enumerate(inputs):
        if not item:
            path = f"input[{place}]"
            told = f"'{path}' is empty: 'input' must be {_INPUT}."
            raise Refused(problems.invalid_value(path, told))
    texts = [item for item in inputs if isinstance(item, str)]
    tokens = sum(len(item) for item in inputs if not isinstance(item, str))
    return len(inputs), measure(texts) + _BYTES_PER_TOKEN * tokens


def _listed(value: object) -> "list[str] | list[list[int]]":
    """The inputs; empty for one that is none of the known shapes, or nothing at all."""
    if isinstance(value, str):
        return [value] if value else []
    if not isinstance(value, list):
        return []
    if all(isinstance(item, str) for item in value):
        return value
    if _are_tokens(value):
        return [value]
    if all(isinstance(item, list) and _are_tokens(item) for item in value):
        return value
    return []


def _are_tokens(items: list[object]) -> bool:
    return all(type(item) is int and item >= 0 for item in items)
