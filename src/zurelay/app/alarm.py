"""Tells operators that a node cannot reach its database: the one thing no outbox there can tell.

Each node tells by itself, when it begins and when it is over. What is not taken is tried again with
the next looks, as long as the process lives. Belongs to an event loop.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog

from zurelay.app import mail
from zurelay.app.mail import MailError
from zurelay.app.webhooks import WebhookError, Webhooks
from zurelay.config.alerts import Alerts
from zurelay.config.smtp import Smtp
from zurelay.office.desk import Desk
from zurelay.office.notices import Notice
from zurelay.office.telling import Recipients, happening
from zurelay.store.alerts import Alert

log = structlog.get_logger("zurelay.app")

MOST_TRIES: Final = 20
_KIND: Final = "store_away"


@dataclass(slots=True)
class _Left:
    """A notice that nobody took yet; `id` stays the same for every try."""

    id: str
    notice: Notice
    tries: int = 0


class Alarm:
    """Tells of one node."""

    def __init__(
        self,
        desk: Desk,
        node: str,
        alerts: Callable[[], Alerts],
        smtp: Callable[[], Smtp],
        webhooks: Webhooks | None = None,
    ) -> None:
        """Make one.

        Args:
            desk: says the time, and what mails say; nothing is read from its store.
            node: what the node is called.
            alerts: the settings in force of alerts.
            smtp: those of mail.
            webhooks: sends those.
        """
        self._desk = desk
        self._node = node
        self._alerts = alerts
        self._smtp = smtp
        self._webhooks = webhooks or Webhooks()
        self._told: float | None = None
        self._left: list[_Left] = []

    async def look(self, since: float | None) -> None:
        """Tell what there is to tell.

        Args:
            since: Unix time since when the store does not answer; None while it does.
        """
        now = self._desk.clock()
        if since is not None and self._told is None and now - since >= self._alerts().spool_s:
            self._told = since
            self._tell(since, None)
        elif since is None and self._told is not None:
            self._tell(self._told, now)
            self._told = None
        self._left = [one for one in self._left if not await self._over(one)]

    async def close(self) -> None:
        """Close every connection."""
        await self._webhooks.aclose()

    # Our own.

    def _tell(self, since: float, ended: float | None) -> None:
        alerts = self._alerts()
        at = int(since * 1000)
        alert = Alert(
            event=f"{_KIND}:{self._node}@{at}",
            kind=_KIND,
            account=None,
            raised_ms=at,
            ended_ms=None if ended is None else int(ended * 1000),
            detail=msgspec.json.encode({"node": self._node}).decode(),
            subject=f"{_KIND}:{self._node}",
        )
        to = Recipients(alerts.emails, alerts.webhook, alerts.secret)
        for notice in happening(self._desk, None, to, alert):
            self._left.append(_Left(self._desk.new_id("out_"), notice))

    async def _over(self, one: _Left) -> bool:
        """Try to send it: whether it needs no more tries."""
        one.tries += 1
        notice = one.notice
        try:
            if notice.kind == "mail":
                await asyncio.to_thread(self._mail, one)
            else:
                now = self._desk.clock()
                await self._webhooks.send(
                    one.id, notice.target, notice.body, notice.secret, now, inside=True
                )
        except (MailError, WebhookError) as error:
            given_up = error.final or one.tries >= MOST_TRIES
            if one.tries == 1 or given_up:
                log.warning("not told", kind=notice.kind, why=str(error), given_up=given_up)
            return given_up
        return True

    def _mail(self, one: _Left) -> None:
        smtp, notice = self._smtp(), one.notice
        made = mail.message(
            smtp, one.id, notice.target, notice.subject, notice.body, self._desk.clock()
        )
        with mail.session(smtp) as opened:
            mail.send(opened, made)
