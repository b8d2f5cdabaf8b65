"""Bodies that would hold up the event loop are opened and read in a process of their own.

A parser needs about 0.1 us for each structural character, and holds the interpreter while it
runs: some hundred thousand of them would freeze every stream. Most bodies are read at once; large
texts and pictures have few structural characters and are no matter.
"""

import asyncio
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from zurelay.api.bodies import decode
from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.formats import registry
from zurelay.formats.base import Inbound
from zurelay.wire import json

HEAVY = 200_000
"""Structural characters above which a body is read elsewhere; about 20 ms of work."""
MOST = 2_000_000
"""Structural characters above which it is refused."""
OPENED_HERE = 1024 * 1024
"""Most bytes that an encoded body is opened to on the event loop."""


def weight(body: bytes) -> int:
    """What reading the body takes, in structural characters; 0 for what cannot be heavy."""
    return 0 if len(body) < HEAVY else json.weight(body)


def too_complex() -> Problem:
    """413 for a body of too many parts."""
    return problems.too_large(
        f"The request body has more than {MOST:,} JSON values; send fewer, longer messages."
    )


def open_here(body: bytes, encoding: str, limit: int) -> bytes | None:
    """The body without its encoding if that is little work, else None.

    Raises:
        Refused: as `bodies.decode`.
    """
    if not encoding:
        plain = body
    else:
        bound = min(limit, OPENED_HERE)
        try:
            plain = decode(body, encoding, bound)
        except Refused as refused:
            if refused.problem.status == 413 and bound < limit:
                return None
            raise
    heavy = weight(plain)
    if heavy > MOST:
        raise Refused(too_complex())
    return plain if heavy <= HEAVY else None


class Reader:
    """Reads heavy bodies, one at a time, in a process that starts with the first of them."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    async def read(self, front: str, body: bytes, encoding: str, limit: int) -> Inbound:
        """Open and validate a body.

        Args:
            front: name of the format it is in.
            body: as it came.
            encoding: its `content-encoding`, empty for none.
            limit: most bytes it may open to.

        Raises:
            Refused: what opening or validating found, or 503 if the process died.
        """
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context)
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._pool, _read, front, body, encoding, limit)
        except BrokenProcessPool:
            self.close()
            raise Refused(
                problems.overloaded_here("The request could not be read; try again.")
            ) from None
        if isinstance(found, Problem):
            raise Refused(found)
        return found

    def close(self) -> None:
        """End the process."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


def _read(front: str, body: bytes, encoding: str, limit: int) -> Inbound | Problem:
    """In the other process. Problems are values here: exceptions travel badly."""
    try:
        if encoding:
            body = decode(body, encoding, limit)
        if weight(body) > MOST:
            return too_complex()
        return registry.front(front).read(body)
    except Refused as refused:
        return refused.problem
