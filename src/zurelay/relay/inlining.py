"""Content that a request names by URL, fetched for upstreams that do not fetch it themselves.

One `Inlining` a request that names any. Fetches each URL once, when the first attempt needs it;
the words of the request are the formats' matter, the network the downloader's.
"""

import asyncio
from collections.abc import Callable, Mapping

import structlog

from zurelay.chat import problems
from zurelay.chat.problems import Problem, Refused
from zurelay.chat.profile import Profile
from zurelay.formats import remote_media
from zurelay.formats.base import Ability, Inbound
from zurelay.formats.remote_media import KINDS, RemotePart
from zurelay.plan.planner import Candidate
from zurelay.providers.base import Provider
from zurelay.relay import preparation
from zurelay.relay.job import Job
from zurelay.upstream.download import Downloads, Unfetchable

log = structlog.get_logger("zurelay.relay")

Kinds = frozenset[Ability]

_NOTHING: Kinds = frozenset()
_FETCHES: Mapping[str, Kinds] = {
    "openai_chat": frozenset({Ability.IMAGE, Ability.VIDEO}),
    "openai_responses": frozenset({Ability.IMAGE, Ability.PDF}),
}
"""What hosted upstreams fetch themselves, by the format they speak."""
_FETCHES_SAME: Mapping[str, Kinds] = {"anthropic": frozenset({Ability.IMAGE, Ability.PDF})}
"""What they fetch besides when the caller speaks the same format."""


def kinds(front: str, back: str, profile: Profile, provider: Provider) -> Kinds:
    """What must not go to this upstream by URL.

    A server at an address of the operator's own is never given one: it would fetch from inside.
    """
    if provider.kind.vendor == "sandbox":
        return _NOTHING
    if not provider.hosted or not profile.image_urls:
        return KINDS
    fetched = _FETCHES.get(back, _NOTHING)
    if front == back:
        fetched |= _FETCHES_SAME.get(back, _NOTHING)
    return KINDS - fetched


class Inlining:
    """The content of one request's URLs."""

    def __init__(self, job: Job, downloads: Downloads, loop: asyncio.AbstractEventLoop) -> None:
        self._job = job
        self._downloads = downloads
        self._loop = loop
        self._content: dict[str, bytes] = {}
        self._parts: dict[Kinds, list[RemotePart]] = {}
        self._written: dict[Kinds, Inbound] = {}
        self._problem: Problem | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def ready(self, candidate: Candidate) -> bool:
        """Whether `inbound` can be called: nothing is left to fetch, or fetching failed."""
        return self._problem is not None or not self._missing(candidate)

    def fetch(self, candidate: Candidate, attempt: int, then: Callable[[], None]) -> None:
        """Fetch what the candidate needs, then call `then`, unless the attempt is forgotten."""
        task = self._loop.create_task(self._fetch(self._missing(candidate)))
        self._tasks[attempt] = task

        def done(task: "asyncio.Task[None]") -> None:
            if task.cancelled():
                return
            error = task.exception()
            if error is not None:
                log.error("download_failed", request_id=self._job.record.id, exc_info=error)
                self._problem = problems.internal()
            if self._tasks.pop(attempt, None) is not None:
                then()

        task.add_done_callback(done)

    def inbound(self, candidate: Candidate) -> Inbound:
        """The request as the candidate's upstream may have it.

        Raises:
            Refused: something could not be fetched, or is not what it should be.
        """
        if self._problem is not None:
            raise Refused(self._problem)
        wanted = self._kinds(candidate)
        written = self._written.get(wanted)
        if written is None:
            written = self._job.inbound
            if self._found(wanted):
                written = remote_media.inlined(written, self._content, wanted)
            self._written[wanted] = written
        return written

    def forget(self, attempt: int) -> None:
        """The attempt is no longer wanted."""
        task = self._tasks.pop(attempt, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """The request is over."""
        for attempt in list(self._tasks):
            self.forget(attempt)

    def _kinds(self, candidate: Candidate) -> Kinds:
        job, provider = self._job, candidate.route.provider
        profile = candidate.model.profile(provider.kind.profile)
        return kinds(job.front.name, preparation.back(job, candidate), profile, provider)

    def _found(self, wanted: Kinds) -> list[RemotePart]:
        parts = self._parts.get(wanted)
        if parts is None:
            parts = self._parts[wanted] = remote_media.found(self._job.inbound, wanted)
        return parts

    def _missing(self, candidate: Candidate) -> list[RemotePart]:
        try:
            parts = self._found(self._kinds(candidate))
        except Refused as refused:
            self._problem = refused.problem
            return []
        return [part for part in parts if part.url not in self._content]

    async def _fetch(self, parts: list[RemotePart]) -> None:
        try:
            self._content |= await self._downloads.fetch([part.url for part in parts])
        except Unfetchable as failed:
            part = next(part for part in parts if part.url == failed.url)
            self._problem = remote_media.unfetchable(part)


def of(job: Job, downloads: Downloads, loop: asyncio.AbstractEventLoop) -> Inlining | None:
    """The request's, if it names anything by URL."""
    return Inlining(job, downloads, loop) if remote_media.marked(job.inbound) else None
