"""What the checks of a request note on their way, whatever its format."""

from dataclasses import dataclass, field

from zurelay.chat.estimate import measure
from zurelay.formats.base import Ability


@dataclass(slots=True)
class Seen:
    """What a request held.

    Attributes:
        needs: what a route must be able to do, with the path of what asks for it first.
        marks: what a format's own exchanges want to know; its checks say which there are.
        texts: of the prompt, which `measure` takes together.
        other_length: of what is no text to be measured, in the same unit.
        media_count: pictures, files, sounds.
        opening: what tells this conversation from others.
    """

    needs: dict[Ability, str] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    other_length: int = 0
    media_count: int = 0
    opening: bytes = b""

    @property
    def text_length(self) -> int:
        """Length of all text, as `chat.estimate.measure` counts; worked out anew each time."""
        return measure(self.texts) + self.other_length
