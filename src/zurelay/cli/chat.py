"""`zurelay chat`: talks to a running gateway, streaming."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zurelay.cli.options import DATA, FIRST_KEY_FILE, HOME, Config, Data, example, http_client
from zurelay.cli.terminal import Failed, clean_lines, complain, dim, note

if TYPE_CHECKING:
    from zurelay.cli.talking import Endpoint, Piece
    from zurelay.upstream.client import HttpClient


def add_to(app: typer.Typer) -> None:
    """Make the command part of the program."""
    app.command("chat", epilog=example('chat -m sandbox/echo "Hello"'))(chat)


def chat(
    prompt: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROMPT]...",
            help="What to ask. Without it: what is piped in, else a conversation.",
            show_default=False,
        ),
    ] = None,
    config: Config = None,  # noqa: ARG001 - every command takes it; this one asks the gateway
    data: Data = DATA,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="The model; without it the first one the gateway lists.",
            show_default=False,
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", "-s", metavar="TEXT", help="System prompt.", show_default=False),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Reasoning effort.", show_default=False),
    ] = None,
) -> None:
    """Talk to a running gateway.

    Reads ZURELAY_API_KEY (else the key that the first start left in the data folder) and
    ZURELAY_BASE_URL (else http://127.0.0.1:8000). Thinking is shown fainter, on a terminal only.
    """
    from zurelay.cli.talking import Endpoint, base_url

    endpoint = Endpoint(
        base_url(os.environ.get("ZURELAY_BASE_URL") or HOME), api_key(os.environ, data)
    )
    question = " ".join(prompt or ())
    if not sys.stdin.isatty():
        piped = _piped()
        question = f"{question}\n\n{piped}".strip() if question and piped else question or piped
    if not question and not sys.stdin.isatty():
        raise typer.BadParameter("it is empty; write what to ask", param_hint="'PROMPT'")
    session = _Session(endpoint, model, system, effort)
    if question:
        asyncio.run(session.once(question))
    else:
        session.talk()


def api_key(environ: Mapping[str, str], data: Path) -> str:
    """The key of the environment, else the one in the data folder. Raises Failed."""
    key = environ.get("ZURELAY_API_KEY", "").strip()
    if not key:
        with contextlib.suppress(OSError):
            key = (data / FIRST_KEY_FILE).read_text(encoding="ascii").strip()
    if not key:
        raise Failed(
            "set ZURELAY_API_KEY to a key of the gateway; make one: zurelay keys create me"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise Failed("ZURELAY_API_KEY is no key: it has spaces or special characters")
    return key


def _piped() -> str:
    return sys.stdin.read().strip()


class _Session:
    def __init__(
        self, endpoint: "Endpoint", model: str | None, system: str | None, effort: str | None
    ) -> None:
        self._endpoint = endpoint
        self._model = model
        self._effort = effort
        self._messages: list[dict[str, str]] = []
        if system:
            self._messages.append({"role": "system", "content": system})

    async def once(self, question: str) -> None:
        """One question, one answer."""
        async with http_client() as client:
            await self._ask(client, question)

    def talk(self) -> None:
        """Question after question until the input ends.

        The event loop runs only while a question is answered, so that Ctrl-C at the prompt is an
        ordinary one.
        """
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives input() its line editing
        with asyncio.Runner() as runner:
            client = http_client()
            try:
                runner.run(self._choose(client))
                note(f"{self._model} at {self._endpoint.base_url}")
                note("Ctrl-C stops an answer, Ctrl-D ends the conversation.")
                while (question := _line()) is not None:
                    if question.strip():
                        self._turn(runner, client, question)
            finally:
                runner.run(client.aclose())

    def _turn(self, runner: asyncio.Runner, client: "HttpClient", question: str) -> None:
        """A question that may fail or be stopped without ending the conversation."""
        asked = len(self._messages)
        try:
            runner.run(self._ask(client, question))
        except KeyboardInterrupt:
            del self._messages[asked:]
            sys.stdout.write("\n")
            note("stopped; the question is forgotten")
        except Failed as error:
            del self._messages[asked:]
            complain(str(error))

    async def _choose(self, client: "HttpClient") -> str:
        """The model that is asked: the one named, else the first one listed."""
        from zurelay.cli.talking import first_model

        if self._model is None:
            self._model = await first_model(client, self._endpoint)
        return self._model

    async def _ask(self, client: "HttpClient", question: str) -> None:
        from zurelay.cli.talking import answer

        model = await self._choose(client)
        self._messages.append({"role": "user", "content": question})
        pieces = answer(client, self._endpoint, model, self._messages, self._effort)
        async with contextlib.aclosing(pieces) as stream:  # type: ignore[type-var]
            text = await _print(stream)
        self._messages.append({"role": "assistant", "content": text})


async def _print(pieces: "AsyncIterator[Piece]") -> str:
    """Show an answer as it comes; gives its text."""
    tty = sys.stdout.isatty()
    text = ""
    last = ""
    end = "\n"
    async for piece in pieces:
        if piece.kind in ("content", "refusal"):
            text += piece.text
        elif not tty:
            continue
        if last and piece.kind != last:
            sys.stdout.write("\n" if end.endswith("\n") else "\n\n")
        last = piece.kind
        shown = clean_lines(piece.text) if tty else piece.text
        sys.stdout.write(dim(shown) if piece.kind in ("reasoning", "tool") else shown)
        sys.stdout.flush()
        end = piece.text
    if last and not end.endswith("\n"):
        sys.stdout.write("\n")
    return text


def _line() -> str | None:
    """A line from the terminal; None when there are no more."""
    try:
        return input("\n> ")
    except EOFError:
        sys.stdout.write("\n")
        return None
