"""One choice of an upstream's stream, brought into the form that clients rely on.

Whatever dialect comes in: one role, thinking as `reasoning_content` alone, tool calls that open
once with index, id, type and name and then carry only arguments, one finish reason that fits.
"""

from collections.abc import Callable
from typing import Any

from zurelay.chat.estimate import weight
from zurelay.chat.events import FinishReason
from zurelay.chat.faults import Fault
from zurelay.formats.fences import FenceStripper
from zurelay.formats.openai_chat import finish
from zurelay.formats.openai_chat.calls import CallReader, join_arguments
from zurelay.formats.openai_chat.content import split_content
from zurelay.formats.openai_chat.history import REASONING, reasoning_text
from zurelay.formats.origin import origin
from zurelay.formats.stop_text import StopCutter
from zurelay.formats.think_tags import ThinkTags

Json = dict[str, Any]

_HANDLED = frozenset({"role", "content", "tool_calls", *REASONING})


class ChoiceReader:
    """Reads the deltas of one choice.

    Attributes:
        finish_reason: normalised, None while the choice is open.
        delivered: length of text, thinking and arguments so far, as `chat.estimate.weight` counts.
        matched_stop: the answer ended at a stop sequence, so it may be empty.
        fault: the finish reason was one.
        token: the delta read last held a token.
        passes: the choice is open and nothing cuts or parts its content: it may pass unread.
    """

    __slots__ = (
        "_cutter",
        "_fence",
        "_realm",
        "_role_sent",
        "_tags",
        "calls",
        "delivered",
        "fault",
        "finish_reason",
        "index",
        "matched_stop",
        "passes",
        "token",
    )

    def __init__(
        self,
        index: int,
        mint: Callable[[int], str],
        stops: tuple[str, ...],
        think_tags: bool,
        realm: str = "",
        json_text: bool = False,
    ) -> None:
        self.index = index
        self._realm = realm
        self.calls = CallReader(mint)
        self._cutter = StopCutter(stops) if stops else None
        self._tags = ThinkTags() if think_tags else None
        self._fence = FenceStripper() if json_text else None
        self._role_sent = False
        self.finish_reason: FinishReason | None = None
        self.delivered = 0
        self.matched_stop = False
        self.fault: Fault | None = None
        self.token = False
        self.passes = False

    def read(self, choice: Json) -> Json | None:
        """The choice in normal form, equal to `choice` where nothing had to change.

        None where nothing is left of it.
        """
        self.token = False
        if self.finish_reason is not None:
            return None
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        out: Json = {} if self._role_sent else {"role": "assistant"}
        out |= {key: value for key, value in delta.items() if key not in _HANDLED}
        if "refusal" in out:
            self._refusal(out)
        if isinstance(out.get("function_call"), dict):
            self._count(join_arguments(out["function_call"].get("arguments")), always=True)
            self.calls.any = True
        self._text(delta, out)
        self._calls(delta, out)
        self._finish(choice, out)
        read = {**choice, "index": self.index, "delta": out}
        read.pop("usage", None)
        self.passes = (
            self.finish_reason is None
            and self._cutter is None
            and self._fence is None
            and (self._tags is None or self._tags.over)
        )
        if "finish_reason" in choice or self.finish_reason is not None:
            read["finish_reason"] = self.finish_reason
        if read == choice:
            self._role_sent = True
            return read
        if not out and self.finish_reason is None:
            return None
        self._role_sent = True
        return read

    def _refusal(self, out: Json) -> None:
        if isinstance(out["refusal"], str):
            self._count(out["refusal"])
        elif out["refusal"] is not None:
            del out["refusal"]

    def _text(self, delta: Json, out: Json) -> None:
        """`content` and all forms of thinking."""
        content, thinking = delta.get("content"), reasoning_text(delta) or ""
        if isinstance(content, list):
            content, thought = split_content(content)
            thinking += thought
        if self._tags is not None and isinstance(content, str) and content:
            thought, content = self._tags.push(content)
            thinking += thought
            content = content or None
        if self._fence is not None and isinstance(content, str) and content:
            content = self._fence.push(content) or None
        if self._cutter is not None and content:
            content = self._cutter.push(content) or None
        if thinking:
            out["reasoning_content"] = thinking
            self._count(thinking)
        elif "reasoning_content" in delta and delta["reasoning_content"] is None:
            out["reasoning_content"] = None
        signed = _proofs(delta.get("reasoning_details"), self._realm)
        if signed:
            out["reasoning_details"] = signed
        if isinstance(content, str) and content:
            out["content"] = content
            self._count(content)
        elif "content" in delta and delta["content"] in (None, ""):
            out["content"] = delta["content"]

    def _calls(self, delta: Json, out: Json) -> None:
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            read = self.calls.read(calls)
            if read:
                out["tool_calls"] = read
                for call in read:
                    self._count(
                        join_arguments(call.get("function", {}).get("arguments")), always=True
                    )
        elif "tool_calls" in delta and calls is None:
            out["tool_calls"] = None

    def _finish(self, choice: Json, out: Json) -> None:
        if self._cutter is not None and self._cutter.stopped:
            self.finish_reason = finish.read("stop", self.calls.any)
            self.matched_stop = True
            return
        word = choice.get("finish_reason")
        if not isinstance(word, str) or not word:
            return
        self.fault = finish.fault(word)
        if self.fault is not None:
            return
        self._flush(out)
        cut = self._cutter is not None and self._cutter.stopped
        self.finish_reason = finish.read("stop" if cut else word, self.calls.any)
        self.matched_stop = cut or any(
            isinstance(choice.get(name), str) for name in ("stop_reason", "matched_stop")
        )

    def _flush(self, out: Json) -> None:
        """Text that waited for more."""
        thinking = text = ""
        if self._tags is not None:
            thinking, text = self._tags.flush()
        if self._fence is not None:
            text = self._fence.push(text) + self._fence.flush()
        if self._cutter is not None:
            text = self._cutter.push(text) + self._cutter.flush()
        if thinking:
            out["reasoning_content"] = out.get("reasoning_content", "") + thinking
            self._count(thinking)
        if text:
            out["content"] = (out.get("content") or "") + text
            self._count(text)

    def _count(self, text: str, always: bool = False) -> None:
        """Note what was delivered; `always`: even an empty piece is a token."""
        if text or always:
            self.token = True
            self.delivered += weight(text)


def _proofs(details: object, realm: str) -> list[Json]:
    """The signed or encrypted among `reasoning_details`, without their text, marked by origin."""
    found = [
        {key: value for key, value in item.items() if key not in ("text", "summary")}
        for item in (details if isinstance(details, list) else [])
        if isinstance(item, dict) and (item.get("signature") or item.get("data"))
    ]
    for item in found if realm else ():
        item["format"] = origin(realm, str(item.get("format") or "unknown"))
    return found
