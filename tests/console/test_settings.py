"""Settings in the console: what was chosen, all of them, and who may see them."""

from collections.abc import Callable

from tests.console.people import Person

Of = Callable[[str], Person]

HOME = "/console/settings"


async def test_settings_are_shown_with_their_origin(people: Of) -> None:
    admin = people("admin")
    text = (await admin.get(f"{HOME}?show=all")).text
    for said in ("[server]", "public_url", "max_body_mb", ">64<", "default", "Takes effect at"):
        assert said in text
    text = (await admin.get(f"{HOME}?q=retention")).text
    assert "retention_days" in text
    assert "max_body_mb" not in text
    seen = await admin.get(f"{HOME}?q=<script>alert(1)</script>")
    assert "Nothing passes this filter" in seen.text
    assert "<script>alert" not in seen.text


async def test_only_who_runs_the_gateway_sees_its_settings(people: Of) -> None:
    assert (await people("member").get(HOME)).status == 403
    assert (await people("owner").get(HOME)).status == 200
