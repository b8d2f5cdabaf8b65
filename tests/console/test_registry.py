"""Every page: who may open it, what it weighs, and that its texts are in all languages."""

import re
from collections.abc import Callable

import pytest
from babel.messages.pofile import read_po

from scripts import catalogues
from tests.console.people import Person
from zurelay.console import assets
from zurelay.console.page import ANYBODY, Page
from zurelay.console.registry import PAGES

ROLES = ("nobody", "owner", "admin", "member", "read-only")
MOST_BYTES = 150_000

Of = Callable[[str], Person]


def example(page: Page) -> str:
    """A path for a page, with something that does not exist for its placeholders."""
    return re.sub(r"\{[a-z_:]+\}", "nothing", page.path)


def told(page: Page) -> str:
    return f"{page.method} {page.path}"


@pytest.mark.parametrize("role", ROLES)
async def test_pages_open_for_those_roles_that_their_row_names_and_for_no_others(
    role: str, people: Of
) -> None:
    somebody = people(role)
    for page in PAGES:
        if page.path == "/console/sign-out":
            continue  # it would end the session that the rest of the test needs
        if page.method == "GET":
            seen = await somebody.send("GET", example(page))
        else:
            await somebody.get("/console/profile")
            form = f"token={somebody.token}".encode()
            kind = {"content-type": "application/x-www-form-urlencoded"}
            cookies = dict(somebody.cookies)
            seen = await somebody.send("POST", example(page), form, kind)
            somebody.cookies = cookies
        to_sign_in = seen.status == 303 and "/console/sign-in" in seen.headers["location"]
        refused = seen.status == 403 or (role == "nobody" and to_sign_in)
        assert refused == (role not in page.roles), (told(page), role, seen.status)
        assert seen.status < 500, (told(page), role, seen.text[-2000:])


async def test_every_change_wants_the_forms_token(people: Of) -> None:
    owner = people("owner")
    await owner.get("/console/profile")
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for page in PAGES:
        if page.method != "POST":
            continue
        for body in (b"", b"token=", b"token=" + b"0" * 64):
            seen = await owner.send("POST", example(page), body, kind)
            assert seen.status == 403, told(page)
        foreign = kind | {"sec-fetch-site": "cross-site"}
        seen = await owner.send("POST", example(page), f"token={owner.token}".encode(), foreign)
        assert seen.status == 403, told(page)
    assert (await owner.get("/console/profile")).status == 200


async def test_no_page_sends_more_than_150_kb(people: Of) -> None:
    owner = people("owner")
    fixed = sum(len(asset.gzipped) for asset in assets.assets().values())
    for page in PAGES:
        if page.method == "GET":
            seen = await owner.send("GET", example(page))
            assert fixed + len(seen.text.encode()) < MOST_BYTES, told(page)


def test_pages_are_told_apart_by_method_and_path() -> None:
    known = [(page.method, re.sub(r"\{[a-z_:]+\}", "{}", page.path)) for page in PAGES]
    assert len(known) == len(set(known))


def test_only_the_door_is_open_to_anybody() -> None:
    assert {page.path for page in PAGES if page.roles == ANYBODY} == {
        "/console/sign-in",
        "/console/forgot",
        "/console/link/{link}",
        "/console/preferences",
        "/console/oidc",
        "/console/oidc/callback",
    }


def test_every_text_is_in_all_three_languages() -> None:
    known = catalogues.catalogues()
    lacking = [
        f"{language}: {path.name}:{line}: {text}"
        for path, line, text in catalogues.texts()
        for language, words in known.items()
        if catalogues.missing(words, text)
    ]
    assert lacking == []


def test_no_translation_is_left_that_nothing_says_any_more() -> None:
    said = {text for _, _, text in catalogues.texts()}
    left = [
        f"{language}: {text}"
        for language, words in catalogues.catalogues().items()
        for text in words
        if text not in said
    ]
    assert left == []


def test_translations_fill_in_the_same_values() -> None:
    values = re.compile(r"%\([a-z_]+\)[sd]|%%|</?[a-z]+")
    wrong = []
    for language, words in catalogues.catalogues().items():
        for text, said in words.items():
            forms = [said] if isinstance(said, str) else list(said)  # type: ignore[call-overload]
            wanted = sorted(values.findall(text if isinstance(text, str) else text[-1]))
            wrong += [
                f"{language}: {text}" for form in forms if sorted(values.findall(form)) != wanted
            ]
    assert wrong == []


def test_french_is_set_with_its_spaces_and_its_apostrophe() -> None:
    """`scripts/catalogues.py MODULE` sets it so."""
    wrong = []
    for path in catalogues.CONSOLE.parent.glob("*/locale/fr/*.po"):
        with path.open("rb") as file:
            found = [message.string or "" for message in read_po(file, locale="fr") if message.id]
        forms = [form for one in found for form in ([one] if isinstance(one, str) else one)]
        wrong += [f"{path.name}: {form}" for form in forms if catalogues.typeset(form) != form]
    assert wrong == []


def test_no_template_marks_anything_as_safe() -> None:
    folder = catalogues.CONSOLE / "templates"
    found = [
        path.name
        for path in folder.glob("*.html")
        if re.search(r"\|\s*safe\b|autoescape|style=|<script>| on[a-z]+=", path.read_text())
    ]
    assert found == []
