"""Sums by day, and sums in shards, so that nodes do not wait for each other's commits."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_ID = sa.String(40).with_variant(sa.String(40, collation="C"), "postgresql")
_MODEL = sa.String(200).with_variant(sa.String(200, collation="C"), "postgresql")
_PROVIDER = sa.String(100).with_variant(sa.String(100, collation="C"), "postgresql")

_COUNTS = ("requests", "errors", "estimated", "cost")
_COSTS = ("requests", "failed", "cost", "upstream_cost", "lost")
_TOKENS = (
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
    """Make both tables of hours anew with a shard, and the table of days from the hours."""
    op.drop_index("ix_usage_hour_api_key", "usage_hour")
    _divided("usage_hour", ("hour", "account", "api_key", "model"), _COUNTS)
    op.create_index("ix_usage_hour_api_key", "usage_hour", ["api_key"])
    _divided("usage_provider_hour", ("hour", "provider"), _COSTS)
    _table("usage_day", ("day", "account", "api_key", "model"), _COUNTS)
    op.create_index("ix_usage_day_account_day", "usage_day", ["account", "day"])
    op.create_index("ix_usage_day_api_key_day", "usage_day", ["api_key", "day"])
    sums = ", ".join(f"sum({name})" for name in (*_COUNTS, *_TOKENS))
    op.execute(
        "INSERT INTO usage_day SELECT hour / 24, account, api_key, model, 0, "  # noqa: S608
        f"{sums} FROM usage_hour GROUP BY 1, 2, 3, 4"
    )


def _divided(name: str, keys: tuple[str, ...], sums: tuple[str, ...]) -> None:
    old = f"{name}_old"
    op.rename_table(name, old)
    if op.get_context().dialect.name == "postgresql":
        op.drop_constraint(f"pk_{name}", old)  # its index would keep the name
    _table(name, keys, sums)
    taken = ", ".join((*keys, "0", *sums, *_TOKENS))
    op.execute(f"INSERT INTO {name} SELECT {taken} FROM {old}")  # noqa: S608
    op.drop_table(old)


def _table(name: str, keys: tuple[str, ...], sums: tuple[str, ...]) -> None:
    kinds = {"account": _ID, "api_key": _ID, "model": _MODEL, "provider": _PROVIDER}
    op.create_table(
        name,
        *(sa.Column(key, kinds.get(key, sa.BigInteger), nullable=False) for key in keys),
        sa.Column("shard", sa.SmallInteger, nullable=False),
        *(sa.Column(column, sa.BigInteger, nullable=False) for column in (*sums, *_TOKENS)),
        sa.PrimaryKeyConstraint(*keys, "shard", name=f"pk_{name}"),
        sqlite_with_rowid=False,
        # Rows are added to all the time: room for that on their page spares the indexes.
        postgresql_with={"fillfactor": 70},
    )
