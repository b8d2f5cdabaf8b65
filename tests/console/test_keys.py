"""Keys in the console: made, shown once, limited, changed, renewed, revoked."""

import re
from collections.abc import Callable

import pytest

from tests.console.people import OWNER, Person, Seen
from zurelay.office.accounts import NewAccount, create_account
from zurelay.office.desk import Desk
from zurelay.office.keys import KeyView, NewKey, create_key, list_keys
from zurelay.office.pages import Page
from zurelay.office.values import AutoForm
from zurelay.testing.gateway import RunningGateway

Of = Callable[[str], Person]

NASTY = "<script>alert(1)</script>\"'&{{7*7}}"


def the_keys(gateway: RunningGateway) -> list[KeyView]:
    return list_keys(Desk(gateway.store), OWNER, Page(100)).data


def one_key(gateway: RunningGateway, name: str) -> KeyView:
    return next(one for one in the_keys(gateway) if one.name == name)


def text_in(seen: Seen) -> str:
    found = re.search(r'<code id="key-text">(zk-[^<]+)</code>', seen.text)
    assert found
    return found.group(1)


async def answers(somebody: Person, text: str) -> int:
    """Status of a request with a key."""
    headers = {"authorization": f"Bearer {text}"}
    return (await somebody.send("GET", "/v1/key", b"", headers)).status


@pytest.mark.parametrize("role", ["owner", "admin", "member"])
async def test_a_key_is_made_and_its_text_shown_once(
    role: str, people: Of, gateway: RunningGateway
) -> None:
    somebody = people(role)
    account = the_keys(gateway)[0].account
    seen = await somebody.post(
        "/console/keys",
        {
            "name": "website",
            "account": account,
            "budget": "12.50",
            "period": "week",
            "rpm": "60",
            "some": "on",
            "models": "sandbox/*\nclaude-*",
            "expires": "2099-12-31",
        },
    )
    assert seen.status == 201
    text = text_in(seen)
    assert f"Authorization: Bearer {text}" in seen.text.replace("&#34;", '"')
    assert await answers(somebody, text) == 200
    key = one_key(gateway, "website")
    assert key.models == ["sandbox/*", "claude-*"]
    assert (key.rpm, key.expires) == (60, "2099-12-31")
    assert key.budget is not None
    assert (key.budget.usd, key.budget.period) == ("12.5", "week")
    for path in ("/console/keys", f"/console/keys/{key.id}"):
        assert text not in (await somebody.get(path)).text


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", "", "Write 1 to 200 characters"),
        ("budget", "much", "Write dollars"),
        ("rpm", "0", "Write a whole number"),
        ("tpm", "x", "Write a whole number"),
        ("expires", "2020-01-01", "Write a day that is not over"),
    ],
)
async def test_a_fault_stands_beside_its_field_and_what_was_written_stays(
    field: str, value: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    owner = people("owner")
    form = {"name": "kept", "account": "default", "concurrency": "7"} | {field: value}
    seen = await owner.post("/console/keys", form)
    assert seen.status == 400
    place = re.search(rf'name="{field}".*?<p class="fault"[^>]*>([^<]*)', seen.text, re.DOTALL)
    assert place
    assert place.group(1).startswith(said)
    assert 'value="7"' in seen.text
    assert len(the_keys(gateway)) == 1


async def test_a_form_changes_what_was_changed_and_takes_limits_away(
    people: Of, gateway: RunningGateway
) -> None:
    owner = people("owner")
    desk = Desk(gateway.store)
    made = create_key(desk, OWNER, NewKey("tool", rpm=5, models=["sandbox/echo", "x-*"]))
    seen = await owner.get(f"/console/keys/{made.details.id}/edit")
    assert 'value="sandbox/echo" checked' in seen.text
    assert "x-*</textarea>" in seen.text
    form = {"name": "better", "rpm": "", "tpm": "9000", "some": "", "budget": "3", "period": "day"}
    seen = await owner.post(f"/console/keys/{made.details.id}", form)
    assert (seen.status, seen.url.endswith(made.details.id)) == (200, True)
    assert "Saved." in seen.text
    key = one_key(gateway, "better")
    assert (key.rpm, key.tpm, key.models) == (None, 9000, None)
    seen = await owner.post(f"/console/keys/{made.details.id}", {"name": "better", "tpm": "no"})
    assert seen.status == 400
    assert one_key(gateway, "better").tpm == 9000


async def test_a_renewed_key_has_two_texts_for_a_while_and_a_revoked_one_none(
    people: Of, gateway: RunningGateway
) -> None:
    member = people("member")
    made = create_key(Desk(gateway.store), OWNER, NewKey("tool"))
    assert await answers(member, made.key) == 200
    home = f"/console/keys/{made.details.id}"
    seen = await member.post(f"{home}/rotate", {"overlap": "3600"})
    new = text_in(seen)
    assert "The old text works until" in seen.text
    assert (await answers(member, new), await answers(member, made.key)) == (200, 200)
    seen = await member.post(f"{home}/rotate", {"overlap": "3600"})
    assert "It was renewed lately" in seen.text
    seen = await member.post(f"{home}/revoke")
    assert "tool is revoked." in seen.text
    assert "tool" not in (await member.get("/console/keys")).text
    assert "tool" in (await member.get("/console/keys?show=all")).text
    assert one_key(gateway, "tool").state == "revoked"


async def test_keys_of_another_account_do_not_exist_for_a_member(
    people: Of, gateway: RunningGateway
) -> None:
    desk = Desk(gateway.store)
    create_account(desk, OWNER, NewAccount("other"))
    made = create_key(desk, OWNER, NewKey("theirs", account="other"))
    member = people("member")
    home = f"/console/keys/{made.details.id}"
    assert "theirs" not in (await member.get("/console/keys?show=all")).text
    for path in (home, f"{home}/edit"):
        assert (await member.get(path)).status == 404
    for action in ("", "/rotate", "/revoke"):
        assert (await member.post(f"{home}{action}", {"name": "mine"})).status == 404
    await member.post("/console/keys", {"name": "sneaky", "account": "other"})
    assert [one.name for one in the_keys(gateway) if one.account_name == "other"] == ["theirs"]
    owner = people("owner")
    assert "theirs" in (await owner.get("/console/keys")).text


async def test_names_are_text_and_nothing_else(people: Of, gateway: RunningGateway) -> None:
    made = create_key(Desk(gateway.store), OWNER, NewKey(NASTY, models=[NASTY]))
    owner = people("owner")
    for path in ("", f"/{made.details.id}", f"/{made.details.id}/edit"):
        seen = await owner.get(f"/console/keys{path}")
        assert seen.status == 200
        assert "<script>alert" not in seen.text
        assert "&lt;script&gt;alert(1)" in seen.text
    seen = await owner.post(f"/console/keys/{made.details.id}/revoke")
    assert "<script>alert" not in seen.text


async def test_who_only_reads_is_offered_nothing_that_changes(people: Of) -> None:
    text = (await people("read-only").get("/console/keys")).text
    assert "/console/keys/new" not in text


FOR_OPERATORS = ('name="markup"', 'name="auto_allow"', "For operators")


@pytest.mark.parametrize("role", ["owner", "admin"])
async def test_operators_set_a_key_s_mark_up_and_what_smart_routing_may_choose(
    role: str, people: Of, gateway: RunningGateway
) -> None:
    somebody = people(role)
    form = {
        "name": "reseller",
        "account": the_keys(gateway)[0].account,
        "markup": "1,25",
        "auto_allow": "claude-*\ngpt-6*",
        "auto_exclude": "*-astra",
        "auto_input": "5",
        "auto_output": "25",
    }
    seen = await somebody.post("/console/keys", form)
    assert seen.status == 201
    key = one_key(gateway, "reseller")
    assert key.markup == "1.25"
    assert key.auto is not None
    assert (key.auto.allow, key.auto.exclude) == (["claude-*", "gpt-6*"], ["*-astra"])
    assert key.auto.ceiling is not None
    assert (key.auto.ceiling.input, key.auto.ceiling.output) == ("5.00", "25.00")
    home = f"/console/keys/{key.id}"
    text = (await somebody.get(home)).text
    assert "\u00d7 1.25" in text
    assert "<code>*-astra</code>" in text
    text = (await somebody.get(f"{home}/edit")).text
    assert all(one in text for one in FOR_OPERATORS)
    assert 'value="1.25"' in text
    await somebody.post(home, {"name": "reseller", "auto_exclude_none": "on", "markup": "0"})
    key = one_key(gateway, "reseller")
    assert key.auto is not None
    assert (key.markup, key.auto.allow, key.auto.exclude) == ("0.0", None, [])
    await somebody.post(home, {"name": "reseller"})
    key = one_key(gateway, "reseller")
    assert (key.markup, key.auto) == (None, None)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("markup", "x", "Write a factor"),
        ("markup", "1000", "Write a factor"),
        ("auto_input", "much", "Write dollars for a million tokens"),
        ("auto_output", "-1", "Write dollars for a million tokens"),
        ("auto_exclude", "x" * 201, "Write one model on each line"),
        ("budget", "1,000", "Write dollars"),
        ("rpm", "1.5", "Write a whole number"),
    ],
)
async def test_a_fault_of_the_operators_fields_stands_beside_it(
    field: str, value: str, said: str, people: Of, gateway: RunningGateway
) -> None:
    form = {"name": "kept", "account": "default", field: value}
    seen = await people("admin").post("/console/keys", form)
    assert seen.status == 400
    place = re.search(rf'name="{field}".*?<p class="fault"[^>]*>([^<]*)', seen.text, re.DOTALL)
    assert place
    assert place.group(1).startswith(said)
    assert len(the_keys(gateway)) == 1


async def test_a_member_sees_no_mark_up_and_sets_none(people: Of, gateway: RunningGateway) -> None:
    terms = NewKey("tool", markup="1.75", auto=AutoForm(exclude=["*-astra"]), rpm=9)
    made = create_key(Desk(gateway.store), OWNER, terms)
    home = f"/console/keys/{made.details.id}"
    member = people("member")
    for path in ("/console/keys/new", f"{home}/edit"):
        text = (await member.get(path)).text
        assert not any(one in text for one in FOR_OPERATORS)
    text = (await member.get(home)).text
    assert "Mark-up" not in text
    assert "1.75" not in text
    assert "<code>*-astra</code>" in text
    form = {"name": "tool", "rpm": "8", "markup": "0", "auto_allow": "*"}
    assert "Saved." in (await member.post(home, form)).text
    key = one_key(gateway, "tool")
    assert (key.rpm, key.markup, key.auto) == (8, "1.75", AutoForm(exclude=["*-astra"]))
    await member.post("/console/keys", form | {"name": "own"})
    key = one_key(gateway, "own")
    assert (key.markup, key.auto) == (None, None)
    assert "1.75" not in (await member.get("/console/audit")).text
    assert "1.75" in (await people("owner").get("/console/audit")).text


async def test_names_of_models_for_smart_routing_are_text_and_nothing_else(
    people: Of, gateway: RunningGateway
) -> None:
    terms = AutoForm(allow=[NASTY], exclude=[NASTY])
    made = create_key(Desk(gateway.store), OWNER, NewKey("tool", auto=terms))
    for path in ("", "/edit"):
        seen = await people("owner").get(f"/console/keys/{made.details.id}{path}")
        assert seen.status == 200
        assert "<script>alert" not in seen.text


async def test_operators_see_the_keys_of_one_account(people: Of, gateway: RunningGateway) -> None:
    desk = Desk(gateway.store)
    other = create_account(desk, OWNER, NewAccount("other"))
    create_key(desk, OWNER, NewKey("theirs", account="other"))
    create_key(desk, OWNER, NewKey("ours"))
    seen = await people("admin").get(f"/console/keys?account={other.id}")
    assert "Keys of other" in seen.text
    assert ("theirs" in seen.text, ">ours<" in seen.text) == (True, False)
    assert f"/console/keys/new?account={other.id}" in seen.text
    seen = await people("admin").get(f"/console/keys/new?account={other.id}")
    assert f'<option value="{other.id}" selected>' in seen.text
    assert (await people("member").get(f"/console/keys?account={other.id}")).status == 404
