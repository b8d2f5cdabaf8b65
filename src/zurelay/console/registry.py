"""Every page of the console. A new page module needs its line here, and nothing else."""

from zurelay.console import billing, entry, keys, models, overview, profile, requests
from zurelay.console.page import Page

PAGES: tuple[Page, ...] = (
    *entry.PAGES,
    *overview.PAGES,
    *keys.PAGES,
    *requests.PAGES,
    *models.PAGES,
    *billing.PAGES,
    *profile.PAGES,
)
