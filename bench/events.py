"""CPU per event of a stream that stays in its format: `python -m bench.events`.

Measures `feed` alone, one event a call as most upstreams send them, in this process's CPU time;
the best of many rounds, for a machine is never slower than it is.
"""

import timeit
from time import process_time

import msgspec

from zurelay.chat.profile import Profile
from zurelay.formats.base import AnswerContext
from zurelay.formats.openai_chat.stream import RelayStream

ROUNDS, EVENTS = 25, 20_000
_HEAD = (
    '"id":"chatcmpl-B2xyz","object":"chat.completion.chunk","created":1741569952,'
    '"model":"gpt-5.4-mini-2026-03-01"'
)
_SHAPES = {
    "text, OpenAI": f'{{{_HEAD},"service_tier":"default","system_fingerprint":"fp_44709d6fcb",'
    '"choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],'
    '"usage":null}',
    "thinking, DeepSeek": f'{{{_HEAD},"choices":[{{"index":0,"delta":{{"content":null,'
    '"reasoning_content":" hello"},"logprobs":null,"finish_reason":null}]}',
    "long way: thinking as `reasoning`": f'{{{_HEAD},"choices":[{{"index":0,"delta":'
    '{"reasoning":" hello"},"finish_reason":null}]}',
}


def cost(event: bytes) -> float:
    """Microseconds for one event of a stream that is under way."""
    context = AnswerContext("chatcmpl-1", 1741569952, "public", False, 10, Profile())
    stream = RelayStream(context)
    for _ in range(3):
        stream.feed(event)
    rounds = timeit.repeat(
        lambda: stream.feed(event), number=EVENTS, repeat=ROUNDS, timer=process_time
    )
    return min(rounds) / EVENTS * 1e6


def main() -> None:
    for name, text in _SHAPES.items():
        print(f"{name:36} {cost(_event(text)):6.2f} us")
    parsed = timeit.repeat(
        lambda: msgspec.json.encode(msgspec.json.decode(_SHAPES["text, OpenAI"])),
        number=EVENTS,
        repeat=ROUNDS,
        timer=process_time,
    )
    print(f"{'for scale: parse and encode alone':36} {min(parsed) / EVENTS * 1e6:6.2f} us")


def _event(text: str) -> bytes:
    return b"data: " + text.encode() + b"\n\n"


if __name__ == "__main__":
    main()
