"""Answers whose `content` is a list of parts (Mistral's reasoning models)."""


def split_content(parts: list[object]) -> tuple[str, str]:
    """The text and the thinking in a list of content parts."""
    text, thinking = "", ""
    for part in parts:
        if isinstance(part, str):
            text += part
        elif isinstance(part, dict):
            inner = part.get("thinking")
            if isinstance(inner, list):
                thinking += split_content(inner)[0]
            elif isinstance(inner, str):
                thinking += inner
            elif isinstance(part.get("text"), str):
                text += part["text"]
    return text, thinking
