import pytest

from zurelay.docs.markdown import Heading, anchor, opening, outline, parse

PAGE = """# The `title`

What it
is, in **short**.

## One & two

text

### It's deep

## One & two

<!-- live: levels -->

<b>raw</b>

```text
## no heading
<!-- live: levels -->
```
"""


def test_a_page_has_a_title_a_description_and_an_outline() -> None:
    tokens = parse(PAGE)
    assert opening(tokens) == ("The title", "What it is, in short.")
    assert list(outline(tokens)) == [
        Heading(2, "One & two", "one--two"),
        Heading(3, "It's deep", "its-deep"),
        Heading(2, "One & two", "one--two-1"),
    ]


def test_a_live_part_is_a_token_where_its_line_stands_and_no_raw_html_is() -> None:
    tokens = parse(PAGE)
    assert [token.content for token in tokens if token.type == "live"] == ["levels"]
    assert [token.type for token in tokens if token.type.startswith("html")] == []
    assert [t.content for t in parse("a\n<!-- live: x -->\nb") if t.type == "live"] == ["x"]
    assert [t.type for t in parse("<!-- other -->") if t.type == "live"] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ("", "")),
        ("words", ("", "")),
        ("## Not a title\n\nwords", ("", "")),
        ("# Only a title", ("Only a title", "")),
        ("# A\n\n- list\n\nwords", ("A", "")),
    ],
)
def test_what_is_missing_at_the_start_is_empty(text: str, found: tuple[str, str]) -> None:
    assert opening(parse(text)) == found


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Which level is used", "which-level-is-used"),
        ("Réponses d\u2019erreur", "réponses-derreur"),
        ("What `none` does", "what-none-does"),
        ("  GET /v1/models ", "get-v1models"),
        ("snake_case - and", "snake_case---and"),
    ],
)
def test_anchors_are_those_of_code_hosts(heading: str, expected: str) -> None:
    assert anchor(heading) == expected
