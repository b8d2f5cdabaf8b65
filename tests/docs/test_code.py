import re
from html import unescape

import pytest

from zurelay.docs.code import OUTPUT, Block, coloured, samples

CURL = ("bash run", "curl x\n")
SHELL = ("bash", "zurelay keys\n")
PYTHON = ("python run", "print(1)\n")
NODE = ("js run", "console.log(1)\n")
TOLD = ("text output", "1\n")
JSON = ("json", "{}\n")


def plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


@pytest.mark.parametrize(
    ("fences", "expected"),
    [
        ([CURL], [["curl"]]),
        ([SHELL], [["Shell"]]),
        ([CURL, PYTHON, NODE], [["curl", "Python", "Node.js"]]),
        ([CURL, PYTHON, NODE, PYTHON], [["curl", "Python", "Node.js"], ["Python"]]),
        ([CURL, JSON], [["curl"], ["JSON"]]),
        ([JSON, PYTHON], [["JSON"], ["Python"]]),
        ([PYTHON, TOLD, NODE], [["Python"], ["Node.js"]]),
        ([CURL, TOLD, PYTHON], [["curl", "Python"]]),
        ([], []),
    ],
)
def test_the_same_in_several_languages_is_one_sample(
    fences: list[tuple[str, str]], expected: list[list[str]]
) -> None:
    assert [[block.label for block in one.blocks] for one in samples(fences)] == expected


def test_output_belongs_to_what_prints_it() -> None:
    (sample,) = samples([CURL, PYTHON, NODE, TOLD])
    assert [block.output for block in sample.blocks] == [None, "1\n", "1\n"]
    (sample,) = samples([CURL, TOLD])
    assert [block.output for block in sample.blocks] == ["1\n"]
    (sample,) = samples([PYTHON, CURL, TOLD])
    assert [block.output for block in sample.blocks] == [None, "1\n"]
    (sample,) = samples([TOLD])
    assert sample.blocks == (Block(OUTPUT, "1\n"),)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", 'if a < b and "x" > \'y\':\n    print(f"{a}")  # é & ü\n\n'),
        ("bash", 'curl -d \'{"a": "<b>"}\' \\\n  x | jq .\n'),
        ("js", "const a = `x`; // <script>\n"),
        ("toml", '[a]\nb = "c"\n'),
        ("http", "GET / HTTP/1.1\nhost: x\n"),
        ("text", '<b> & "q"\n'),
        ("unheard-of", "<i>\n"),
        ("", "  indented\n"),
    ],
)
def test_colouring_changes_no_character(language: str, text: str) -> None:
    html = coloured(language, text)
    assert plain(html) == text.rstrip("\n")
    assert re.findall(r"<(?!/?span\b)", html) == []
    assert "style=" not in html


@pytest.mark.parametrize(
    ("language", "text", "kind", "written"),
    [
        ("python", 'f(os.environ["ZURELAY_API_KEY"])', "quoted", 'os.environ["ZURELAY_API_KEY"]'),
        (
            "js",
            "({ apiKey: process.env.ZURELAY_API_KEY })",
            "quoted",
            "process.env.ZURELAY_API_KEY",
        ),
        ("bash", 'curl -H "x: $ZURELAY_API_KEY"', "bare", "$ZURELAY_API_KEY"),
        ("bash", 'curl -H "x: ${ZURELAY_API_KEY}"', "bare", "${ZURELAY_API_KEY}"),
        ("bash", 'export ZURELAY_API_KEY="zk-..."', "bare", "zk-..."),
        ("text", "key: zk-...", "bare", "zk-..."),
    ],
)
def test_places_of_the_readers_key_are_marked(
    language: str, text: str, kind: str, written: str
) -> None:
    html = coloured(language, text)
    found = re.findall(r'<span class="slot" data-key="(\w+)">([^<]*)</span>', html)
    assert [(one, unescape(said)) for one, said in found] == [(kind, written)]
    assert plain(html) == text


def test_other_variables_and_mere_mentions_are_not() -> None:
    for text in ("echo $ZURELAY_API_KEYS", "ZURELAY_API_KEY is read", "$OPENAI_API_KEY"):
        assert "data-key" not in coloured("bash", text)
