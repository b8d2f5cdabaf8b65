"""The page of routes where several processes share a database, in a real browser."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import text

from tests.browser.conftest import Opened, assert_fits, opened_store
from tests.served import Served, serve
from tests.servers import PostgreSQL
from zurelay.plan.report import ErrorShown, Standing, encoded
from zurelay.store.engine import Store
from zurelay.store.route_reports import tell

Visit = Callable[..., Opened]
Shot = Callable[[Page, str], None]

BUSY = Standing(
    samples=120,
    success_rate=0.9917,
    first_token_p50_ms=412.0,
    first_token_p95_ms=900.0,
    in_flight=14,
    attempts_1h=5210,
    failed_1h=12,
)
SICK = Standing(
    state="open",
    cause="connection",
    wait_s=41.0,
    samples=20,
    success_rate=0.1,
    in_flight=1,
    attempts_1h=480,
    failed_1h=96,
    last_errors=(
        ErrorShown("connect", None, "Connection refused: " + "a long tale of why " * 12, 4.0),
        ErrorShown("server_error", 503, "The server is overloaded.", 31.0),
    ),
)
OTHERS = {
    "b1": ("gateway-one.internal:worker-1", {"sandbox:sandbox/echo": BUSY}),
    "b2": (
        "gateway-one.internal:worker-2",
        {"sandbox:sandbox/echo": SICK, "sandbox:sandbox/lorem": BUSY},
    ),
    "b3": ("gateway-two.internal:worker-1", {"sandbox:sandbox/echo": BUSY}),
    "b4": ("gateway-two.internal:worker-2", {}),
}


@pytest.fixture(scope="module")
def shared(postgresql: PostgreSQL) -> Iterator[str]:
    """`storage.url` of a database that processes share."""
    with postgresql.database() as url:
        yield url


@pytest.fixture(scope="module")
def served(shared: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Another gateway than that of other tests: one on that database."""
    folder = tmp_path_factory.mktemp("routes")
    with serve(folder, f'[storage]\nurl = "{shared}"\n') as running:
        yield running


@pytest.fixture(scope="module")
def console_store(served: Served, shared: str) -> Iterator[Store]:
    yield from opened_store(served, shared)


@pytest.fixture
def others(console_store: Store) -> Store:
    """Four other processes told a moment ago; the last is silent for a while."""
    with console_store.write() as connection:
        for node, (name, routes) in OTHERS.items():
            tell(connection, node, name, encoded(routes))
        connection.execute(
            text("UPDATE route_report SET seen_ms = seen_ms - 47000 WHERE node = 'b4'")
        )
    return console_store


@pytest.mark.parametrize(
    ("theme", "phone", "language"),
    [("light", False, "en"), ("dark", True, "en"), ("dark", False, "nl"), ("light", True, "fr")],
)
def test_processes_are_shown_together(
    visit: Visit, shot: Shot, others: Store, theme: str, phone: bool, language: str
) -> None:
    path = "/console/routes?q=sandbox"
    page = visit(path, theme=theme, phone=phone, language=language).page
    row = page.locator("table.routes tbody tr", has_text="sandbox/echo")
    expect(row).to_contain_text("gateway-one.internal:worker-2")
    assert_fits(page)
    row.locator("details.errors summary").click()
    expect(row.locator("details.errors li")).to_have_count(2)
    name = f"together-{theme}-{'phone' if phone else 'desktop'}-{language}"
    shot(page, name)
    row.locator("details.errors summary").click()
    page.locator("details.drop > summary", has_text="process").click()
    expect(page.get_by_role("link", name="gateway-two.internal:worker-1")).to_be_visible()
    assert_fits(page)
    menu = page.locator("details.drop[open] .menu").bounding_box()
    assert menu is not None
    assert menu["x"] >= 0
    shot(page, f"{name}-menu")


def test_one_of_them_is_looked_at_and_stays_so_while_one_searches(
    visit: Visit, shot: Shot, others: Store
) -> None:
    page = visit("/console/routes").page
    expect(page.locator("#live")).to_contain_text("4 processes see it together")
    page.locator("details.drop > summary", has_text="All processes").click()
    page.get_by_role("link", name="gateway-one.internal:worker-2").click()
    expect(page.locator("#live")).to_contain_text(
        "health as gateway-one.internal:worker-2 alone sees it"
    )
    page.get_by_label("Model or route").fill("sandbox/echo")
    expect(page.locator("table.routes tbody tr")).to_have_count(1)
    row = page.locator("table.routes tbody tr")
    expect(row.get_by_text("down", exact=True)).to_be_visible()
    assert "process=b2" in page.url
    shot(page, "alone")
    assert_fits(page)
