"""The guide over HTTP, on a whole gateway."""

import gzip
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.console.people import Person, Seen
from zurelay.catalogue.model import Model, Reasoning
from zurelay.docs import assets
from zurelay.docs.application import Docs
from zurelay.docs.menu import PAGES
from zurelay.docs.parts import DocsParts, Status
from zurelay.plan.route import RoutingTable, ServedModel
from zurelay.testing.gateway import RunningGateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[RunningGateway]:
    async with RunningGateway(tmp_path) as running:
        yield running


@pytest.fixture
def reader(gateway: RunningGateway) -> Person:
    return Person(gateway, {})


async def test_every_page_is_there_in_every_language_and_as_markdown(reader: Person) -> None:
    for code in ("en", "nl", "fr"):
        assert (await reader.get(f"/docs/{code}")).status == 200
        for page in PAGES:
            seen = await reader.get(f"/docs/{code}/{page}")
            assert (seen.status, seen.headers["content-type"]) == (200, "text/html; charset=utf-8")
            assert f'<html lang="{code}"' in seen.text
            assert "127.0.0.1:8000" not in seen.text
            seen = await reader.get(f"/docs/{code}/{page}.md")
            assert seen.headers["content-type"] == "text/markdown; charset=utf-8"
            assert seen.text.startswith("# ")
            assert "127.0.0.1:8000" not in seen.text


async def test_a_reader_gets_their_own_language(reader: Person) -> None:
    async def language(path: str, accepted: str = "") -> str:
        seen = await reader.get(path, accept_language=accepted)
        return seen.headers["content-language"]

    assert await language("/docs/streaming") == "en"
    assert await language("/docs/streaming", "nl-BE,en;q=0.5") == "nl"
    assert await language("/docs/fr/streaming", "nl") == "fr"
    reader.cookies["zurelay_language"] = "fr"
    assert await language("/docs/streaming", "nl") == "fr"
    assert await language("/docs/streaming.md", "nl") == "fr"
    assert await language("/docs", "nl") == "fr"
    reader.cookies["zurelay_language"] = "xx"
    assert await language("/docs", "nl") == "nl"


async def test_language_and_theme_are_kept_and_lead_back_to_the_page(reader: Person) -> None:
    async def prefer(body: str, **headers: str) -> Seen:
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return await reader.send("POST", "/docs/preferences", body.encode(), kind | headers)

    seen = await prefer("page=streaming&shown=en&language=nl")
    assert (seen.status, seen.headers["location"]) == (303, "/docs/nl/streaming")
    assert reader.cookies["zurelay_language"] == "nl"
    assert all("httponly" in one.lower() for one in seen.cookies)
    seen = await prefer("page=&shown=fr&theme=dark")
    assert (seen.status, seen.headers["location"]) == (303, "/docs/fr")
    assert reader.cookies["zurelay_theme"] == "dark"
    assert 'data-theme="dark"' in (await reader.get("/docs")).text
    for body in ("page=//evil.example&shown=//evil&language=zz&theme=zz", "", "a=%ff&page=%00"):
        seen = await prefer(body)
        assert (seen.status, seen.headers["location"]) == (303, "/docs")
        assert seen.cookies == ()
    assert (await prefer("theme=light", **{"sec-fetch-site": "cross-site"})).status == 403
    assert (await prefer("x" * 3000)).status == 413
    assert reader.cookies["zurelay_theme"] == "dark"


async def test_a_public_address_is_shown_to_all_and_the_machines_own_is_marked(
    gateway: RunningGateway, reader: Person
) -> None:
    for path in ("/", "/docs", "/docs/en/streaming"):
        assert f'data-local="{gateway.base_url}"' in (await reader.get(path)).text
    await gateway.reload('[server]\npublic_url = "https://ai.example.com"\n')
    for path in ("/", "/docs", "/docs/en/streaming"):
        seen = await reader.get(path)
        assert "data-local" not in seen.text
        assert "https://ai.example.com" in seen.text


async def test_a_page_has_a_tag_and_is_sent_once(reader: Person) -> None:
    seen = await reader.get("/docs/en/streaming")
    tag = seen.headers["etag"]
    assert seen.headers["cache-control"] == "no-cache"
    assert "cookie" in seen.headers["vary"]
    again = await reader.get("/docs/en/streaming", if_none_match=f'"other", {tag}')
    assert (again.status, again.text, again.headers["etag"]) == (304, "", tag)
    assert (await reader.get("/docs/en/errors", if_none_match=tag)).status == 200


async def test_head_says_the_same_without_a_body(reader: Person) -> None:
    for path in ("/", "/docs", "/docs/en/streaming", "/docs/en/streaming.md", "/llms.txt"):
        head = await reader.send("HEAD", path)
        seen = await reader.get(path)
        assert (head.status, head.text) == (200, "")
        assert head.headers["content-type"] == seen.headers["content-type"]
    assert (await reader.send("HEAD", "/docs/nothing")).status == 404


async def test_programs_find_the_guide(reader: Person) -> None:
    for path in ("/llms.txt", "/docs/llms.txt"):
        seen = await reader.get(path, accept_language="nl")
        assert seen.headers["content-type"] == "text/plain; charset=utf-8"
        for page in PAGES:
            assert f"({reader.gateway.base_url}/docs/en/{page}.md)" in seen.text
    assert (await reader.get("/llms-full.txt")).text.count("\n# ") >= len(PAGES)
    seen = await reader.get("/docs/en/streaming", accept="text/markdown, */*")
    assert seen.headers["content-type"] == "text/markdown; charset=utf-8"
    seen = await reader.get("/docs/en/streaming", accept="text/html, text/markdown;q=0.1")
    assert seen.headers["content-type"] == "text/html; charset=utf-8"


async def test_the_models_served_stand_in_the_page_about_levels(reader: Person) -> None:
    assert "sandbox/reasoning" in (await reader.get("/docs/en/reasoning")).text
    seen = await reader.get("/docs/nl/reasoning.md")
    assert "| `sandbox/reasoning` | Sandbox |" in seen.text


async def test_what_is_not_there_is_said_in_the_readers_language(reader: Person) -> None:
    seen = await reader.get("/docs/steaming", accept_language="nl")
    assert (seen.status, seen.headers["cache-control"]) == (404, "no-store")
    assert 'lang="nl"' in seen.text
    assert "/docs/nl/streaming" in seen.text
    seen = await reader.get("/docs/fr/%3Cscript%3Ealert(1)%3C/script%3E")
    assert seen.status == 404
    assert 'lang="fr"' in seen.text
    assert "alert(1)" not in seen.text
    seen = await reader.get("/docs/nothing.md")
    assert (seen.status, seen.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert "/llms.txt" in seen.text


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../../pyproject.toml",
        "/docs/%2e%2e/%2e%2e/menu.py",
        "/docs/en/..%2f..%2fmenu.py",
        "/docs/en/....//menu.md",
        "/docs/assets/../menu.py",
        "/docs/assets/%2e%2e/%2e%2e/menu.py",
        "/docs/pages/en/streaming.md",
        "/docs/en/streaming%00.md",
    ],
)
async def test_no_path_leaves_the_pages(reader: Person, path: str) -> None:
    seen = await reader.send("GET", path)
    assert seen.status == 404
    assert "import" not in seen.text


async def test_nothing_but_our_own_files_may_be_loaded(reader: Person) -> None:
    for path in ("/", "/docs", "/docs/en/streaming", "/docs/nothing", "/docs/en/streaming.md"):
        headers = (await reader.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in headers


async def test_other_methods_are_refused(reader: Person) -> None:
    seen = await reader.send("POST", "/docs/en/streaming", b"x")
    assert (seen.status, seen.headers["allow"]) == (405, "GET, HEAD")
    assert (await reader.send("GET", "/docs/preferences")).status == 404
    assert (await reader.send("DELETE", "/")).status == 405


async def test_the_front_page_says_what_runs_here(reader: Person) -> None:
    seen = await reader.get("/", accept_language="nl")
    assert seen.headers["cache-control"] == "no-store"
    for words in ("in bedrijf", f"{reader.gateway.base_url}/v1", 'href="/docs/nl"', "/console"):
        assert words in seen.text
    reader.gateway.process.stop(drain=True)
    assert "stopt" in (await reader.get("/", accept_language="nl")).text


async def test_a_page_that_was_looked_at_is_there_at_once_and_small(reader: Person) -> None:
    for page in PAGES:
        seen = await reader.get(f"/docs/en/{page}")
        packed = gzip.compress(seen.text.encode())
        assert len(packed) < 40_000, page
    began = time.perf_counter()
    for page in PAGES:
        await reader.get(f"/docs/en/{page}")
    each = (time.perf_counter() - began) / len(PAGES)
    assert each < 0.1  # 2 ms where nothing else runs


def served(*levels: str) -> RoutingTable:
    model = Model("m", "M", "acme", "m", reasoning=Reasoning(levels, None))
    return RoutingTable({"m": ServedModel(model, ())})


async def test_pages_are_made_anew_only_if_what_they_tell_has_changed() -> None:
    now = {"table": served("low"), "brand": "One"}
    docs = Docs(
        DocsParts(
            table=lambda: now["table"],  # type: ignore[arg-type, return-value]
            brand=lambda: str(now["brand"]),
            wire=lambda: "zurelay",
            base_url=lambda: "https://x.example",
            public_url=lambda: "https://x.example",
            example_model=lambda: "m",
            status=lambda: Status("1", draining=False, models=1, providers=1),
        )
    )
    first = await docs._current()
    assert await docs._current() is first
    now["table"] = served("low")
    assert await docs._current() is first
    now["table"] = served("low", "high")
    second = await docs._current()
    assert second is not first
    assert [row.text for row in second.facts.levels] == ["low high"]
    now["brand"] = "Two"
    third = await docs._current()
    assert (third is second, third.facts.brand) == (False, "Two")


async def test_assets_are_served_for_ever(reader: Person) -> None:
    for asset in assets.OURS.all.values():
        seen = await reader.get(asset.url)
        assert seen.status == 200
        assert "immutable" in seen.headers["cache-control"]
    assert (await reader.get("/docs/assets/none.css")).status == 404
