"""Which browser and system a `User-Agent` names, for people to recognise where they are signed in.

A claim and no proof: everybody can send what they like. Knows no visit.
"""

from typing import Final

# The first that is found counts: most browsers name those they descend from too (2026-11-30).
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Version/", "Safari"),
)
_SYSTEMS: Final = (
    ("Windows NT", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_and_system(agent: str) -> tuple[str, str] | None:
    """Names of both; None where it names no browser and system that we know."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in agent), None)
    return None if browser is None or system is None else (browser, system)
