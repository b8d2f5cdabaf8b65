import re
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po

from zurelay.letters import texts
from zurelay.letters.texts import FOLDER, INVITATION, PASSWORD, Text, write

SOURCE = Path(texts.__file__)


def wanted() -> set[str]:
    """Every text that is marked, here and in modules that add their own."""
    found: set[str] = set()
    for path in SOURCE.parent.glob("*.py"):
        found |= {str(text) for _, text, _, _ in extract_from_file("python", path, {"N_": None})}
    return found


@pytest.mark.parametrize("language", ["nl", "fr"])
def test_every_text_has_its_translation_with_the_same_values(language: str) -> None:
    known: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.po")):
        with path.open("rb") as file:
            known |= {str(one.id): str(one.string) for one in read_po(file) if one.id}
    assert set(known) == wanted()
    for text, said in known.items():
        values = [sorted(re.findall(r"%\(\w+\)s", one)) for one in (text, said)]
        assert values[0] == values[1], text


def test_the_link_stands_alone_on_its_line() -> None:
    subject, body = write(
        "en",
        INVITATION,
        brand="Acme AI",
        base_url="https://ai.example.com",
        support_email="help@example.com",
        link="https://ai.example.com/console/link/abc",
        inviter="Olga",
        account="research",
    )
    assert subject == "You are invited to Acme AI"
    assert "\n\nhttps://ai.example.com/console/link/abc\n\n" in body
    assert "Olga invites you to Acme AI, to the account research." in body
    assert body.endswith(
        "-- \nThis mail was written by Acme AI, https://ai.example.com\nQuestions: help@example.com\n"
    )


def test_it_is_written_in_the_language_asked_for_and_in_english_otherwise() -> None:
    def subject(code: str) -> str:
        said = write(code, PASSWORD, brand="Acme", base_url="https://a.nl", email="a@b.nl")
        return said[0]

    assert subject("nl") == "Een nieuw wachtwoord voor Acme"
    assert subject("fr") == "Un nouveau mot de passe pour Acme"
    assert subject("de") == subject("en") == "A new password for Acme"


def test_a_value_with_a_percent_sign_or_a_line_break_stays_what_it_is() -> None:
    text = Text("About %(what)s", ("%(what)s",))
    subject, body = write("en", text, brand="A", base_url="https://a.nl", what="100%(x)s\nBcc: b")
    assert subject == "About 100%(x)s Bcc: b"
    assert body.startswith("100%(x)s\nBcc: b\n\n-- \n")
    assert "Questions" not in body
