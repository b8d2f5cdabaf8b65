"""Every page of the console. A new page module needs its line here, and nothing else."""

from zurelay.console import (
    accounts,
    alerts,
    audit,
    billing,
    entry,
    forgot,
    keys,
    members,
    models,
    overview,
    playground,
    prices,
    profile,
    requests,
    routes,
    settings,
    single_sign_on,
    support,
)
from zurelay.console.page import Page

PAGES: tuple[Page, ...] = (
    *entry.PAGES,
    *forgot.PAGES,
    *overview.PAGES,
    *keys.PAGES,
    *requests.PAGES,
    *models.PAGES,
    *billing.PAGES,
    *alerts.PAGES,
    *support.PAGES,
    *playground.PAGES,
    *routes.PAGES,
    *accounts.PAGES,
    *members.PAGES,
    *prices.PAGES,
    *settings.PAGES,
    *audit.PAGES,
    *profile.PAGES,
    *single_sign_on.PAGES,
)
