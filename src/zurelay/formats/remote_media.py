"""Parts of a request that name their content by URL: found, and written anew with the content.

Knows the shapes in which the formats carry such parts, whichever format a request is in. Fetches
nothing and does not know who does.
"""

from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from zurelay.chat.media_types import media_type
from zurelay.chat.problems import Problem, Refused, unsupported_content
from zurelay.formats.base import Ability, Inbound
from zurelay.wire import json

Json = dict[str, Any]

MOST_URLS = 20
"""URLs that one request may name."""

KINDS = frozenset({Ability.IMAGE, Ability.PDF, Ability.VIDEO})
"""What can be named by URL."""

_MARKS = {
    Ability.IMAGE: "remote_image",
    Ability.PDF: "remote_file",
    Ability.VIDEO: "remote_video",
}
_MARKING = frozenset({"openai_chat", "openai_responses", "anthropic"})
"""Fronts that mark such parts themselves."""
_FIELDS = ("messages", "input")
_INNER = ("content", "output")
_REMOTE = ("https://", "http://")
_FILM_PAGES = (
    "https://www.youtube.com/",
    "https://m.youtube.com/",
    "https://youtube.com/",
    "https://youtu.be/",
)
"""Pages of films, no files: only upstreams that know the site can watch them (Gemini does)."""
_TYPES = {
    Ability.IMAGE: ("image/",),
    Ability.PDF: ("application/pdf",),
    Ability.VIDEO: ("video/",),
}
_PARTS: "msgspec.json.Decoder[list[Raw]]" = msgspec.json.Decoder(list[Raw])


class RemotePart(msgspec.Struct, frozen=True):
    """A part whose content lies elsewhere; `path` is its place in the body."""

    path: str
    url: str
    kind: Ability


def marked(inbound: Inbound) -> bool:
    """Whether a part by URL was noticed when the request was read, or may be there unnoticed."""
    if inbound.front in _MARKING:
        return not inbound.marks.isdisjoint(_MARKS.values())
    return any(kind in inbound.needs for kind in KINDS)


def found(inbound: Inbound, kinds: Collection[Ability]) -> list[RemotePart]:
    """The parts of these kinds that stand there by URL, in order.

    Raises:
        Refused: they name more than 20 URLs.
    """
    parts = [
        RemotePart(path, url, kind)
        for name, items in _fields(inbound).items()
        for place, item in enumerate(items)
        for path, part in _walk(item, f"{name}[{place}]")
        for kind, url in _read(part)
        if kind in kinds
    ]
    urls = list(dict.fromkeys(part.url for part in parts))
    if len(urls) > MOST_URLS:
        path = next(part.path for part in parts if part.url == urls[MOST_URLS])
        told = f"A request may name at most {MOST_URLS} files by URL; '{path}' is one more."
        raise Refused(unsupported_content(path, told))
    return parts


def unfetchable(part: RemotePart) -> Problem:
    """400: always in the same words, as the reason could tell about what lies inside."""
    return unsupported_content(
        part.path,
        f"The content of '{part.path}' could not be fetched as what it should be. Use a public "
        "http or https URL that gives the file itself, at most 20 MB, or send the content.",
    )


def inlined(
    inbound: Inbound, content: Mapping[str, bytes], kinds: Collection[Ability] = KINDS
) -> Inbound:
    """The request with the content of these kinds in place of its URLs.

    Only the messages that hold such a part are written anew; the same input gives the same bytes.

    Raises:
        Refused: a file is not what its part says.
    """
    fields: dict[str, Raw] = {}
    for name, items in _fields(inbound).items():
        raws = _PARTS.decode(inbound.body[name])
        for place, item in enumerate(items):
            changed = False
            for path, part in _walk(item, f"{name}[{place}]"):
                for kind, url in _read(part):
                    if kind in kinds:
                        _write(RemotePart(path, url, kind), part, content[url])
                        changed = True
            if changed:
                raws[place] = Raw(json.encode(item))
        fields[name] = Raw(json.encode(raws))
    return msgspec.structs.replace(
        inbound,
        body={**inbound.body, **fields},
        marks=inbound.marks - {_MARKS[kind] for kind in kinds},
    )


def _fields(inbound: Inbound) -> dict[str, list[Any]]:
    """The fields that hold a conversation as a list, decoded."""
    decoded = {name: json.decode(inbound.body[name]) for name in _FIELDS if name in inbound.body}
    return {name: value for name, value in decoded.items() if isinstance(value, list)}


def _walk(item: Any, path: str) -> Iterable[tuple[str, Json]]:
    """A message or part and all parts inside of it, each with its path."""
    if not isinstance(item, dict):
        return
    yield path, item
    source = item.get("source")
    holders = [(path, item)]
    if isinstance(source, dict):
        holders.append((f"{path}.source", source))
    for base, holder in holders:
        for name in _INNER:
            inner = holder.get(name)
            for place, part in enumerate(inner if isinstance(inner, list) else ()):
                yield from _walk(part, f"{base}.{name}[{place}]")


def _read(part: Json) -> Iterable[tuple[Ability, str]]:
    """Kind and URL of a part whose content lies elsewhere; nothing for any other."""
    url: object
    match part:
        case {"type": "image_url", "image_url": {"url": url}}:
            kind = Ability.IMAGE
        case {"type": "video_url", "video_url": {"url": url}}:
            kind = Ability.VIDEO
        case {"type": "file", "file": {"file_data": url}}:
            kind = Ability.PDF
        case {"type": "input_image", "image_url": url}:
            kind = Ability.IMAGE
        case {"type": "input_file", "file_url": url}:
            kind = Ability.PDF
        case {"type": "image", "source": {"type": "url", "url": url}}:
            kind = Ability.IMAGE
        case {"type": "document", "source": {"type": "url", "url": url}}:
            kind = Ability.PDF
        case _:
            return
    if not isinstance(url, str) or not url.lower().startswith(_REMOTE):
        return
    if kind is not Ability.VIDEO or not url.lower().startswith(_FILM_PAGES):
        yield kind, url


def _write(remote: RemotePart, part: Json, data: bytes) -> None:
    """Put the content into the part."""
    kind = media_type(data)
    if kind is None or not kind.startswith(_TYPES[remote.kind]):
        raise Refused(unfetchable(remote))
    digits = b64encode(data).decode("ascii")
    data_url = f"data:{kind};base64,{digits}"
    match part["type"]:
        case "image_url" | "video_url" as shape:
            part[shape]["url"] = data_url
        case "file":
            part["file"] = {"filename": "document.pdf", **part["file"], "file_data": data_url}
        case "input_image":
            part["image_url"] = data_url
        case "input_file":
            del part["file_url"]
            part.setdefault("filename", "document.pdf")
            part["file_data"] = data_url
        case _:
            part["source"] = {"type": "base64", "media_type": kind, "data": digits}
