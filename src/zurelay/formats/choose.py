"""Which of its formats an upstream is spoken to in. Facts in, a name out; knows no format."""

from collections.abc import Collection, Mapping

from zurelay.formats.base import Ability

RESPONSES = "openai_responses"


def back_format(
    own: str,
    also: Collection[str],
    *,
    front: str = "",
    only: str = "",
    lacks: Collection[str] = (),
    files: bool = True,
    needs: Mapping[Ability, str],
    effort: str | None,
) -> str:
    """The name of the back format for one request to one model.

    Args:
        own: what the provider speaks.
        also: what it speaks besides.
        front: what the caller speaks.
        only: the one format that reaches the model; empty if `own` does.
        lacks: what the model's Chat Completions endpoint lacks: `tools` while it thinks,
            `thinking` to be read, and effort levels.
        files: its Chat Completions endpoint takes files.
        needs: what the request has.
        effort: the level in force; None if unknown, which may mean that the model thinks.
    """
    if only:
        return only
    if RESPONSES not in also or Ability.AUDIO in needs:
        return own
    if front == RESPONSES:  # the same words on both sides lose least
        return RESPONSES
    tools_refused = "tools" in lacks and Ability.TOOLS in needs and effort != "none"
    unshared = "thinking" in lacks and effort not in (None, "none")
    file_refused = not files and Ability.PDF in needs
    return RESPONSES if tools_refused or unshared or file_refused or effort in lacks else own
