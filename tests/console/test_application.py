"""Who is let in, from where, and what every answer carries."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console.people import Person, person
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def test_every_answer_keeps_scripts_images_and_frames_of_others_out(people: Of) -> None:
    for path in ("/console/sign-in", "/console", "/console/nothing", "/console/link/x"):
        seen = await people("owner").send("GET", path)
        policy = seen.headers["content-security-policy"]
        for part in (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ):
            assert part in policy
        assert "unsafe" not in policy
        assert seen.headers["cache-control"] == "no-store"
        assert seen.headers["x-content-type-options"] == "nosniff"
        assert seen.headers["referrer-policy"] == "same-origin"
        assert re.fullmatch(r"req_[0-9a-f]{32}", seen.headers["x-request-id"])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "192.168.1.9"])
async def test_only_this_machine_and_the_public_address_are_answered(people: Of, host: str) -> None:
    owner = people("owner")
    for path in ("/console", "/console/sign-in"):
        seen = await owner.send("GET", path, b"", {"host": host})
        assert seen.status == 421
        assert "public_url" in seen.text
        assert "Owner" not in seen.text
    await owner.get("/console/profile")
    body = f"token={owner.token}".encode()
    assert (
        await owner.send("POST", "/console/sign-out", body, FORM | {"host": host})
    ).status == 421
    assert (await owner.get("/console")).status == 200


async def test_cookies_are_out_of_reach_of_scripts_and_other_sites(people: Of) -> None:
    seen = await people("nobody").send("GET", "/console/sign-in")
    assert seen.cookies
    for cookie in seen.cookies:
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Path=/" in cookie
        assert "Secure" not in cookie


async def test_cookies_are_secure_where_the_public_address_is(tmp_path: Path) -> None:
    config = '[server]\npublic_url = "https://ai.example.com"\n'
    async with RunningGateway(tmp_path, config) as gateway:
        nobody = person(gateway, "nobody")
        host = {"host": "ai.example.com"}
        seen = await nobody.send("GET", "/console/sign-in", b"", host)
        assert seen.status == 200
        assert all("Secure" in cookie for cookie in seen.cookies)
        await gateway.reload('[server]\npublic_url = "https://other.example.com"\n')
        assert (await nobody.send("GET", "/console/sign-in", b"", host)).status == 421


async def test_a_stranger_is_sent_to_the_door_and_back(people: Of) -> None:
    seen = await people("nobody").send("GET", "/console/keys?show=all")
    assert seen.status == 303
    assert seen.headers["location"] == "/console/sign-in?next=%2Fconsole%2Fkeys%3Fshow%3Dall"
    seen = await people("nobody").send("GET", "/console")
    assert seen.headers["location"] == "/console/sign-in"
    part = await people("nobody").send("GET", "/console/keys", b"", {"hx-request": "true"})
    assert (part.status, part.headers["hx-redirect"]) == (401, "/console/sign-in")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/console/nothing", 404),
        ("GET", "/console/keys/no/such/page", 404),
        ("GET", "/console/" + "x" * 600, 404),
        ("GET", "/console/keys/%00", 404),
        ("GET", "/console/keys/", 200),
        ("HEAD", "/console/keys", 200),
        ("POST", "/console/profile/sessions/x", 404),
        ("GET", "/console/preferences", 405),
        ("PUT", "/console/keys", 405),
        ("DELETE", "/console", 405),
    ],
)
async def test_other_paths_and_methods_have_a_page_of_their_own(
    people: Of, method: str, path: str, status: int
) -> None:
    assert (await people("owner").send(method, path)).status == status


async def test_bodies_are_forms_of_a_bounded_size(people: Of) -> None:
    owner = people("owner")
    await owner.get("/console/profile")
    token = f"token={owner.token}&name=x&filler=".encode()
    too_large = await owner.send("POST", "/console/profile", token + b"x" * 300_000, FORM)
    assert too_large.status == 413
    assert "it is too large" in too_large.text
    kind = {"content-type": "application/json"}
    assert (await owner.send("POST", "/console/profile", b"{}", kind)).status == 415
    many = b"&".join(b"x=1" for _ in range(2000))
    assert (await owner.send("POST", "/console/profile", many, FORM)).status == 400


async def test_what_strangers_write_into_cookies_harms_nothing(people: Of) -> None:
    owner = people("owner")
    owner.cookies |= {
        "zurelay_language": "xx",
        "zurelay_theme": '"><script>',
        "zurelay_account": "acct_nothing",
        "zurelay_notice": "bm9uc2Vuc2U=",
    }
    seen = await owner.get("/console")
    assert seen.status == 200
    assert 'data-theme="system"' in seen.text
    assert "<script>" not in seen.text.replace("<script src", "")
    owner.cookies["zurelay_session"] = "x" * 5000
    assert (await owner.send("GET", "/console")).status == 303


async def test_a_store_that_is_away_is_told_in_plain_words(
    people: Of, gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zurelay.console import application
    from zurelay.office.desk import Unavailable

    owner = people("owner")

    def away(*_: object) -> None:
        raise Unavailable("/secret/place: disk I/O error")

    monkeypatch.setattr(application, "resume", away)
    seen = await owner.send("GET", "/console")
    assert seen.status == 503
    assert "The database does not answer" in seen.text
    assert "secret" not in seen.text


async def test_a_fault_of_ours_leaks_nothing(people: Of, monkeypatch: pytest.MonkeyPatch) -> None:
    from zurelay.console import application

    owner = people("owner")

    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(application, "render", broken)
    seen = await owner.send("GET", "/console")
    assert seen.status == 500
    assert "secret" not in seen.text
    assert "Traceback" not in seen.text
