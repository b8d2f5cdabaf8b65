"""`python -m bench.auto`: both tables."""

from rich.console import Console
from rich.table import Table

from bench.auto import replay, speed


def main() -> None:
    """Print what ways to choose cost, and how long a decision takes."""
    console = Console()
    money = Table("keys of", "chosen", "USD per 1,000 requests", "of the best", "tier met")
    for row in replay.rows():
        money.add_row(*row)
    console.print(money)
    table = speed.table_of()
    times = Table(
        f"{len(table.models)} models", "decision us", "with routes us", "first of its kind us"
    )
    for one in speed.measured(table):
        times.add_row(one.name, f"{one.decision:.0f}", f"{one.plan:.0f}", f"{one.first:.0f}")
    console.print(times)


if __name__ == "__main__":
    main()
