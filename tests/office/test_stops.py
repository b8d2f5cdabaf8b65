from dataclasses import replace

from tests.office.people import ADMIN, MEMBER, READER, audited, refusal
from zurelay.office.desk import Desk
from zurelay.office.stops import StopForm, list_stops, resume, stop

FORM = StopForm("model", "gpt-6", "too dear")


def test_a_model_is_stopped_once_and_resumed(desk: Desk) -> None:
    made = stop(desk, ADMIN, FORM)
    assert (made.kind, made.name, made.note) == ("model", "gpt-6", "too dear")
    assert stop(desk, ADMIN, StopForm("model", "gpt-6", "again")) == made
    assert list_stops(desk, READER) == [made]
    resume(desk, ADMIN, "model", "gpt-6")
    assert list_stops(desk, READER) == []
    assert refusal(resume, desk, ADMIN, "model", "gpt-6").status == 404
    assert [line.action for line in audited(desk)] == ["model.stop", "model.resume"]


def test_what_is_not_there_is_told_with_the_nearest(desk: Desk) -> None:
    serving = replace(
        desk,
        models=lambda: ["gpt-6"],
        providers=lambda: ["openai"],
        routes=lambda: ["openai:gpt-6"],
    )
    for kind, name, near in (
        ("model", "gpt-5", "gpt-6"),
        ("provider", "opnai", "openai"),
        ("route", "openai:gpt6", "openai:gpt-6"),
    ):
        problem = refusal(stop, serving, ADMIN, StopForm(kind, name))  # type: ignore[arg-type]
        assert (problem.status, problem.param) == (400, "name")
        assert near in problem.message
    assert stop(serving, ADMIN, StopForm("provider", "openai")).name == "openai"
    assert stop(serving, ADMIN, StopForm("route", "openai:gpt-6")).name == "openai:gpt-6"
    assert refusal(stop, desk, ADMIN, StopForm("model", "a", "b\n")).param == "note"


def test_stopping_is_for_those_who_run_the_gateway(desk: Desk) -> None:
    for actor in (READER, MEMBER):
        assert refusal(stop, desk, actor, FORM).status == 403
        assert refusal(resume, desk, actor, "model", "gpt-6").status == 403
    assert refusal(list_stops, desk, MEMBER).status == 403
