from zurelay.docs.drawing import draw, page_link
from zurelay.docs.markdown import parse
from zurelay.docs.rendering import speaking

EN, NL = speaking("en"), speaking("nl")

PAGE = """# Title

Lead with `code` and [link](errors.md).

## A & B

[one](streaming.md#x) [two](#a--b) [out](https://example.com/a.md) <script>alert(1)</script>

| a | b | c |
|---|---|---|
| 1 | 2 | 3 |

> A remark.

```bash run
curl -H "x: $ZURELAY_API_KEY"
```

```python run
print("<b>")
```

```text output
<b>
```

<!-- live: levels -->

<!-- live: unknown -->
"""


def test_the_title_is_left_to_the_head_and_the_first_paragraph_is_its_lead() -> None:
    drawn = draw(parse(PAGE), EN, {})
    assert drawn.lead == 'Lead with <code>code</code> and <a href="/docs/en/errors">link</a>.'
    assert "Title" not in drawn.html
    assert drawn.keys
    assert not draw(parse("# A\n\nB\n\nC"), EN, {}).keys
    assert draw(parse("no title"), EN, {}).html == "<p>no title</p>\n"


def test_headings_can_be_linked_and_links_stay_in_the_language() -> None:
    html = draw(parse(PAGE), NL, {}).html
    assert '<h2 id="a--b">A &amp; B<a class="anchor" href="#a--b" aria-label="Link naar' in html
    assert '<a href="/docs/nl/streaming#x">one</a>' in html
    assert '<a href="#a--b">two</a>' in html
    assert '<a href="https://example.com/a.md" rel="noreferrer">out</a>' in html


def test_nothing_of_a_page_is_taken_for_html() -> None:
    html = draw(parse(PAGE), EN, {}).html
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert "<b>" not in html
    sneaky = '[x](javascript:alert)\n\n## <img src=x>\n\n```a"onclick=x\ny\n```\n'
    html = draw(parse("# T\n\nd\n\n" + sneaky), EN, {}).html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert '"onclick' not in html


def test_code_in_several_languages_has_tabs_and_its_output() -> None:
    html = draw(parse(PAGE), EN, {}).html
    assert html.count('type="radio"') == 2
    assert '<label for="t1-shell">curl</label>' in html
    assert '<label for="t1-python">Python</label>' in html
    assert html.count(" checked") == 1
    assert "<samp>&lt;b&gt;</samp>" in html
    assert " run" not in html.replace("run(", "")
    alone = draw(parse("# T\n\nd\n\n```text output\nx\n```\n\n```json\n{}\n```\n"), NL, {}).html
    assert "radio" not in alone
    assert '<p class="sample-name">Uitvoer</p>' in alone


def test_tables_can_be_scrolled_and_know_their_width() -> None:
    html = draw(parse(PAGE), EN, {}).html
    assert '<div class="scroll" tabindex="0" role="group" aria-label="Table">' in html
    assert '<table class="wide">' in html
    assert '<td data-label="a">1</td>\n<td data-label="b">2</td>' in html
    assert html.count("<table") == html.count("</table></div>") == 1


def test_live_parts_are_drawn_where_they_stand() -> None:
    html = draw(parse(PAGE), EN, {"levels": lambda: "<p>drawn</p>"}).html
    assert html.endswith("<p>drawn</p>")
    assert "live" not in html


def test_only_links_to_pages_are_changed() -> None:
    for href in ("#a", "/console", "https://x.example/a.md", "a.txt", "../a.md", "mailto:a@b.md"):
        assert page_link(href, "nl") == href
    assert page_link("errors.md", "fr") == "/docs/fr/errors"


def test_long_names_may_be_broken_at_their_joints() -> None:
    html = draw(
        parse("# T\n\nd\n\n`completion_tokens_details.x` `max_tokens` `a < b_c_d_e_f_g`"), EN, {}
    ).html
    assert "<code>completion_<wbr>tokens_<wbr>details.<wbr>x</code>" in html
    assert "<code>max_tokens</code>" in html
    assert "<code>a &lt; b_<wbr>c_" in html
