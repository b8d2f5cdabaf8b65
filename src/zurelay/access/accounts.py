"""Accounts: who owns keys and pays, and on what terms."""

from dataclasses import dataclass
from typing import Literal

Period = Literal["day", "week", "month", "total"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a key or account may spend in a period; `usd` in nano-dollars."""

    usd: int
    period: Period


@dataclass(frozen=True, slots=True)
class Account:
    """An account as the gateway knows it.

    Attributes:
        id: `acct_...`.
        name: unique, for people.
        created: Unix seconds.
        prepaid: whether it needs a balance; None: as the configuration says.
        budget: the most all its keys may spend together.
        zone: IANA name of the time zone its periods and statements begin in; None for UTC.
        rpm, tpm, concurrency: bounds over all its keys; None for no limit.
        markup: decimal factor on prices; None: as the configuration says.
        stopped: Unix seconds since when its keys are refused.
    """

    id: str
    name: str
    created: int
    prepaid: bool | None = None
    budget: Budget | None = None
    zone: str | None = None
    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None
    markup: str | None = None
    stopped: int | None = None
