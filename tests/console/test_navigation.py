from zurelay.console.navigation import SECTIONS, here, shown
from zurelay.console.registry import PAGES


def test_a_place_shows_once_its_page_is_served() -> None:
    assert shown([], "owner") == []
    (section,) = shown(["/console/keys", "/console/nothing"], "owner")
    assert [place.label for place in section.places] == ["Keys"]


def test_members_are_not_shown_what_only_operators_may_open() -> None:
    everything = [place.path for section in SECTIONS for place in section.places]
    of_members = [p.path for section in shown(everything, "member") for p in section.places]
    assert "/console/routes" not in of_members
    assert "/console/keys" in of_members
    of_owners = [p.path for section in shown(everything, "owner") for p in section.places]
    assert of_owners == everything


def test_each_place_shows_to_nobody_who_may_not_open_its_page() -> None:
    roles = {page.path: page.roles for page in PAGES if page.method == "GET"}
    for section in SECTIONS:
        for place in section.places:
            assert place.roles <= roles.get(place.path, place.roles), place.path


def test_a_page_belongs_to_the_place_it_lies_below() -> None:
    assert here("/console") == "/console"
    assert here("/console/keys") == "/console/keys"
    assert here("/console/keys/key_1/edit") == "/console/keys"
    assert here("/console/profile") == ""
    assert here("/console/keystone") == ""
