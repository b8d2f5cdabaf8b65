"""Endpoints for looking: usage, requests, audit log; and personal data, given and erased."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from zurelay.admin.endpoint import Call, Endpoint, File, ListView, PageQuery, shown
from zurelay.admin.views import RequestView
from zurelay.office import audit, contents, exports, personal, requests, usage
from zurelay.office.audit import AuditView
from zurelay.office.contents import ContentView
from zurelay.office.personal import Erased, SubjectForm
from zurelay.office.requests import Wanted
from zurelay.office.usage import ProviderUsageView, UsageView, UserUsageView
from zurelay.office.values import Moment, Name, moment_of

_Text = Annotated[str, Meta(min_length=1, max_length=256)]
_JSON_LINES = "application/x-ndjson"


class PeriodQuery(Struct, forbid_unknown_fields=True):
    """From when, and until before when; whole hours."""

    since: Moment | None = None
    until: Moment | None = None

    @property
    def period(self) -> dict[str, float | None]:
        """As the office takes it."""
        return {
            "since": moment_of(self.since, "since"),
            "until": moment_of(self.until, "until"),
        }


class ScopeQuery(PeriodQuery, forbid_unknown_fields=True):
    """When, and whose."""

    account: Name | None = None
    key: Name | None = None


class UsageQuery(ScopeQuery, forbid_unknown_fields=True):
    """When, whose, and summed over what."""

    by: Literal["model", "key", "account", "day"] = "model"


class ExportQuery(PeriodQuery, forbid_unknown_fields=True):
    """When, whose, and as what."""

    account: Name | None = None
    format: exports.Format = "csv"


class RequestsQuery(PageQuery, forbid_unknown_fields=True):
    """Which requests; metadata as `metadata[team]=docs`."""

    account: Name | None = None
    key: Name | None = None
    model: Name | None = None
    status: Literal["ok", "error", "client_closed", "interrupted"] | None = None
    user: _Text | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    since: Moment | None = None
    until: Moment | None = None


class AuditQuery(PageQuery, forbid_unknown_fields=True):
    """Which changes; an action is such as `key.create`, or `key` for all of a kind."""

    account: Name | None = None
    actor: _Text | None = None
    action: _Text | None = None
    target: _Text | None = None


class SubjectQuery(Struct, forbid_unknown_fields=True):
    """Whose data: an account's, an end user's, or an end user's in one account."""

    account: Name | None = None
    user: _Text | None = None


def _usage(call: Call) -> object:
    query = call.query
    return ListView(
        usage.usage(
            call.parts.desk,
            call.actor,
            query.by,
            account=query.account,
            key=query.key,
            **query.period,
        )
    )


def _usage_of_users(call: Call) -> object:
    query = call.query
    return ListView(
        usage.usage_of_users(
            call.parts.desk, call.actor, account=query.account, key=query.key, **query.period
        )
    )


def _usage_of_providers(call: Call) -> object:
    found = usage.usage_of_providers(call.parts.desk, call.actor, **call.query.period)
    return ListView(found)


def _export_usage(call: Call) -> object:
    query = call.query
    pieces = exports.export_usage(
        call.parts.desk, call.actor, query.format, account=query.account, **query.period
    )
    media_type = "text/csv" if query.format == "csv" else _JSON_LINES
    return File(pieces, media_type, f"usage.{query.format}")


def _list_requests(call: Call) -> object:
    query = call.query
    wanted = Wanted(
        account=query.account,
        key=query.key,
        model=query.model,
        status=query.status,
        user=query.user,
        metadata=query.metadata,
        since=moment_of(query.since, "since"),
        until=moment_of(query.until, "until"),
    )
    return shown(
        requests.list_requests(call.parts.desk, call.actor, wanted, query.limit, query.cursor)
    )


def _get_request(call: Call) -> object:
    return requests.get(call.parts.desk, call.actor, call.path["request"])


def _get_content(call: Call) -> object:
    return contents.read(call.parts.desk, call.actor, call.path["request"])


def _list_audit(call: Call) -> object:
    query = call.query
    return shown(
        audit.list_audit(
            call.parts.desk,
            call.actor,
            query.page,
            account=query.account,
            by=query.actor,
            action=query.action,
            target=query.target,
        )
    )


def _erase(call: Call) -> object:
    return personal.erase(call.parts.desk, call.actor, call.body)


def _export_personal(call: Call) -> object:
    subject = SubjectForm(call.query.account, call.query.user)
    pieces = personal.export(call.parts.desk, call.actor, subject)
    return File(pieces, _JSON_LINES, "personal-data.jsonl")


ENDPOINTS = (
    Endpoint(
        "GET",
        "/usage",
        "getUsage",
        "Sum usage by model, key, account or day.",
        "usage.read",
        _usage,
        ListView[UsageView],
        UsageQuery,
    ),
    Endpoint(
        "GET",
        "/usage/users",
        "getUsageOfUsers",
        "Sum usage by end user, of the last 30 days where no time is given.",
        "usage.read",
        _usage_of_users,
        ListView[UserUsageView],
        ScopeQuery,
    ),
    Endpoint(
        "GET",
        "/usage/providers",
        "getUsageOfProviders",
        "Sum usage by provider, with what it asks, what callers paid and what was lost.",
        "providers.read",
        _usage_of_providers,
        ListView[ProviderUsageView],
        PeriodQuery,
    ),
    Endpoint(
        "GET",
        "/usage/export",
        "exportUsage",
        "Get usage as a file: a row per hour, account, key and model.",
        "usage.read",
        _export_usage,
        None,
        ExportQuery,
        media_types=("text/csv", _JSON_LINES),
    ),
    Endpoint(
        "GET",
        "/requests",
        "listRequests",
        "List entries of the request log, newest first.",
        "requests.read",
        _list_requests,
        ListView[RequestView],
        RequestsQuery,
    ),
    Endpoint(
        "GET",
        "/requests/{request}",
        "getRequest",
        "Get an entry of the request log.",
        "requests.read",
        _get_request,
        RequestView,
    ),
    Endpoint(
        "GET",
        "/requests/{request}/content",
        "getRequestContent",
        "Get the messages of a request, where its key has them stored.",
        "content.read",
        _get_content,
        ContentView,
    ),
    Endpoint(
        "GET",
        "/audit",
        "listAudit",
        "List what was changed by whom, newest first.",
        "audit.read",
        _list_audit,
        ListView[AuditView],
        AuditQuery,
    ),
    Endpoint(
        "GET",
        "/personal-data",
        "exportPersonalData",
        "Get all that is kept of an account or end user, as JSON lines.",
        "personal.export",
        _export_personal,
        None,
        SubjectQuery,
        media_types=(_JSON_LINES,),
    ),
    Endpoint(
        "POST",
        "/personal-data/erase",
        "erasePersonalData",
        "Erase the personal data of an account or end user, for ever; amounts stay.",
        "personal.erase",
        _erase,
        Erased,
        body=SubjectForm,
    ),
)
