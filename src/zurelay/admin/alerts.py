"""Endpoints for alerts: what was raised, where an account wants its own, a test."""

from typing import Annotated

from msgspec import Meta

from zurelay.admin.endpoint import Call, Endpoint, ListView, PageQuery, shown
from zurelay.office import alerts
from zurelay.office.alerts import AlertView, TargetForm, TargetSet, TargetView, TrialView
from zurelay.office.values import Name

Kind = Annotated[str, Meta(min_length=1, max_length=40, description="`budget`, `disk` and so on.")]


class AlertsQuery(PageQuery, forbid_unknown_fields=True):
    """Which alerts; of the operators' own, only those who may see providers get any."""

    account: Name | None = None
    kind: Kind | None = None
    open: bool | None = None


def _list_alerts(call: Call) -> object:
    query = call.query
    return shown(
        alerts.list_alerts(
            call.parts.desk,
            call.actor,
            query.page,
            query.account,
            kind=query.kind,
            holds=query.open,
        )
    )


def _get_target(call: Call) -> object:
    return alerts.get_target(call.parts.desk, call.actor, call.path["account"])


def _set_target(call: Call) -> object:
    return alerts.set_target(call.parts.desk, call.actor, call.path["account"], call.body)


def _renew_secret(call: Call) -> object:
    return alerts.renew_secret(call.parts.desk, call.actor, call.path["account"])


def _send_trial(call: Call) -> object:
    return alerts.send_trial(call.parts.desk, call.actor, call.path["account"])


ENDPOINTS = (
    Endpoint(
        "GET",
        "/alerts",
        "listAlerts",
        "List alerts, newest first.",
        "alerts.read",
        _list_alerts,
        ListView[AlertView],
        AlertsQuery,
    ),
    Endpoint(
        "GET",
        "/accounts/{account}/alerts",
        "getAlertTarget",
        "Get where an account's alerts go.",
        "alerts.read",
        _get_target,
        TargetView,
    ),
    Endpoint(
        "PUT",
        "/accounts/{account}/alerts",
        "setAlertTarget",
        "Say where an account's alerts go; a first webhook gets a secret.",
        "alerts.change",
        _set_target,
        TargetSet,
        body=TargetForm,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/alerts/secret",
        "renewAlertSecret",
        "Give an account's webhook another secret.",
        "alerts.change",
        _renew_secret,
        TargetSet,
    ),
    Endpoint(
        "POST",
        "/accounts/{account}/alerts/test",
        "testAlerts",
        "Send a test to where an account's alerts go.",
        "alerts.change",
        _send_trial,
        TrialView,
    ),
)
