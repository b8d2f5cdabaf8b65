"""Sums over all keys and over all models, for questions about the whole gateway."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_ID = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
_MODEL = sa.String(200).with_variant(sa.String(200, collation="C"), "postgresql")

_SUMS = (
    "requests",
    "errors",
    "estimated",
    "cost",
    "input",
    "cached_input",
    "cache_write",
    "cache_write_long",
    "audio_input",
    "output",
    "audio_output",
    "reasoning",
)


def upgrade() -> None:
    """Make the tables and fill them from the sums there are."""
    _table("usage_hour_model", "usage_hour", ("hour", "model"))
    _table("usage_hour_key", "usage_hour", ("hour", "account", "api_key"))
    _table("usage_day_key", "usage_day", ("day", "account", "api_key"))


def _table(name: str, source: str, keys: tuple[str, ...]) -> None:
    kinds = {"account": _ID, "api_key": _ID, "model": _MODEL}
    op.create_table(
        name,
        *(sa.Column(key, kinds.get(key, sa.BigInteger), nullable=False) for key in keys),
        sa.Column("shard", sa.SmallInteger, nullable=False),
        *(sa.Column(column, sa.BigInteger, nullable=False) for column in _SUMS),
        sa.PrimaryKeyConstraint(*keys, "shard", name=f"pk_{name}"),
        sqlite_with_rowid=False,
        postgresql_with={"fillfactor": 70},
    )
    sums = ", ".join(f"sum({column})" for column in _SUMS)
    grouped = ", ".join(keys)
    op.execute(
        f"INSERT INTO {name} SELECT {grouped}, 0, {sums} FROM {source} GROUP BY {grouped}"  # noqa: S608
    )
