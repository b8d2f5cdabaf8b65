"""The requests that are replayed: conversations of several kinds, each with the tier it deserves.

The tier is stated by hand, with its reason, before anything is chosen: it knows nothing of the
rule under test. Lengths of answers are stated too.
"""

import base64
from dataclasses import dataclass
from typing import Any

WORD = "Lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor. "
"""About twenty tokens."""

CODE = """
def settle(orders, rates):
    total = 0
    for order in orders:
        total += order.amount * rates[order.currency]
    return total

class Book:
    def __init__(self, rates):
        self.rates = rates
        self.orders = []
"""
"""About seventy tokens."""

PIXEL = "data:image/png;base64," + base64.b64encode(b"\x89PNG" + b"\0" * 60).decode()


def tool(name: str) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name} and tells what came of it.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
                "required": ["path"],
            },
        },
    }


TOOLS = [tool(name) for name in ("read_file", "write_file", "search", "run_tests")]
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "invoice",
        "schema": {
            "type": "object",
            "properties": {
                "number": {"type": "string"},
                "total": {"type": "number"},
                "lines": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["number", "total"],
        },
    },
}


@dataclass(frozen=True)
class Shape:
    """A conversation.

    Attributes:
        tier: the least a person who knows models would take for it.
        because: why.
        turns: the bodies of its requests, in order.
        answer: output tokens of each answer, thinking aside.
    """

    name: str
    kind: str
    tier: str
    because: str
    turns: tuple[dict[str, Any], ...]
    answer: int = 400


def one(text: str, system: str = "", **fields: Any) -> tuple[dict[str, Any], ...]:
    messages = [{"role": "system", "content": system}] if system else []
    return ({"messages": [*messages, {"role": "user", "content": text}], **fields},)


def talk(count: int, text: str, answer: str, **fields: Any) -> tuple[dict[str, Any], ...]:
    """A conversation of `count` requests, each with all that was said before."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": WORD * 5}]
    bodies = []
    for number in range(count):
        messages = [*messages, {"role": "user", "content": f"{text} ({number})"}]
        bodies.append({"messages": messages, **fields})
        messages = [*messages, {"role": "assistant", "content": answer}]
    return tuple(bodies)


def loop(count: int, result: str, **fields: Any) -> tuple[dict[str, Any], ...]:
    """An agent's loop of `count` requests: a call and its result between each two."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a careful engineer. " + WORD * 40},
        {"role": "user", "content": "Find why the totals are wrong, and repair it."},
    ]
    bodies = []
    for number in range(count):
        bodies.append({"messages": messages, "tools": TOOLS, **fields})
        call = {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "read_file", "arguments": '{"path": "src/book.py"}'},
        }
        messages = [
            *messages,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": result},
        ]
    return tuple(bodies)


def picture(text: str, **fields: Any) -> tuple[dict[str, Any], ...]:
    parts = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": PIXEL}},
    ]
    return ({"messages": [{"role": "user", "content": parts}], **fields},)


def effort(word: str) -> dict[str, str]:
    return {"reasoning_effort": word}


SHAPES = (
    Shape("small talk", "chat", "light", "anything answers it", one("How are you today?"), 60),
    Shape(
        "rewrite a mail", "chat", "light", "a bounded task", one(WORD * 10, "Make it polite."), 200
    ),
    Shape(
        "classify a ticket", "chat", "light", "one word of five", one(WORD * 8, "Which team?"), 10
    ),
    Shape(
        "a long talk", "chat", "standard", "must keep a thread", talk(12, WORD * 3, WORD * 12), 250
    ),
    Shape(
        "a question in Japanese",
        "chat",
        "standard",
        "small models are weaker beyond Latin scripts",
        one("東京と大阪の気候の違いについて、表を使って詳しく説明してください。" * 3),
        500,
    ),
    Shape(
        "a proof",
        "chat",
        "strong",
        "asked to think hard",
        one("Prove it. " + WORD, **effort("high")),
    ),
    Shape(
        "a research plan",
        "chat",
        "frontier",
        "asked for the most there is",
        one("Plan the work of a year. " + WORD * 20, **effort("max")),
        1500,
    ),
    Shape("explain a function", "code", "light", "reading is easy", one(CODE + "What is it?"), 300),
    Shape("write a module", "code", "standard", "must run", one("Write tests." + CODE * 6), 1500),
    Shape(
        "a subtle bug",
        "code",
        "strong",
        "asked to think hard",
        one("It loses a cent." + CODE * 20, **effort("high")),
        900,
    ),
    Shape(
        "a design of a system",
        "code",
        "frontier",
        "asked for the most there is",
        one("Redesign it." + CODE * 40, **effort("xhigh")),
        3000,
    ),
    Shape(
        "fields of an invoice",
        "extraction",
        "light",
        "bounded by a schema",
        one(WORD * 30, "Extract.", response_format=SCHEMA),
        120,
    ),
    Shape(
        "fields of a long contract",
        "extraction",
        "standard",
        "much to read and miss",
        one(WORD * 1500, "Extract.", response_format=SCHEMA),
        300,
    ),
    Shape(
        "summary of a report",
        "long document",
        "standard",
        "much to read and miss",
        one(WORD * 2000, "Summarise in a page."),
        700,
    ),
    Shape(
        "compare two contracts",
        "long document",
        "strong",
        "asked to think hard",
        one(WORD * 6000, "Where do they differ?", **effort("high")),
        1200,
    ),
    Shape(
        "one look-up",
        "agent",
        "standard",
        "must call the right tool",
        one("Where is the rate set?", WORD * 10, tools=TOOLS),
        80,
    ),
    Shape(
        "an agent's loop over code",
        "agent",
        "strong",
        "many steps, each must be right",
        loop(15, CODE * 8),
        150,
    ),
    Shape(
        "an agent's loop asked to think",
        "agent",
        "strong",
        "many steps, each must be right",
        loop(10, CODE * 8, **effort("high")),
        150,
    ),
    Shape(
        "caption of a picture",
        "vision",
        "standard",
        "small models misread pictures",
        picture("Write a caption."),
        60,
    ),
    Shape(
        "a chart, thought over",
        "vision",
        "strong",
        "asked to think hard",
        picture("What does it imply? " + WORD * 4, **effort("high")),
        500,
    ),
)
