import pytest

from zurelay.console.browsers import browser_and_system

_KHTML = "(KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (
            (
                f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 {_KHTML}"
                " HeadlessChrome/156.0.0.0 Safari/537.36"
            ),
            ("Chrome", "Linux"),
        ),
        (
            (
                f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 {_KHTML}"
                " Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0"
            ),
            ("Edge", "Windows"),
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:140.0) Gecko/20100101 Firefox/140.0",
            ("Firefox", "macOS"),
        ),
        (
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
                f" {_KHTML} Version/18.0 Mobile/15E148 Safari/604.1"
            ),
            ("Safari", "iPhone"),
        ),
        (
            (
                f"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 {_KHTML}"
                " Chrome/140.0.0.0 Mobile Safari/537.36"
            ),
            ("Chrome", "Android"),
        ),
        ("curl/8.5.0", None),
        ("", None),
    ],
)
def test_a_browser_is_named_as_people_call_it(agent: str, named: tuple[str, str] | None) -> None:
    assert browser_and_system(agent) == named
