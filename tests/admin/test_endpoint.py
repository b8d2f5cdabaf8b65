from zurelay.admin.endpoint import ListView, PageQuery, match, shown
from zurelay.office.pages import Listed, Page


def test_paths_match_their_templates_segment_by_segment() -> None:
    assert match("/keys", "/keys") == {}
    assert match("/keys/key_1", "/keys/{key}") == {"key": "key_1"}
    assert match("/accounts/a b/members/x", "/accounts/{account}/members/{member}") == {
        "account": "a b",
        "member": "x",
    }
    for path, template in (
        ("/keys/", "/keys/{key}"),
        ("/keys/a/b", "/keys/{key}"),
        ("/key/a", "/keys/{key}"),
        ("/keys", "/keys/{key}"),
    ):
        assert match(path, template) is None


def test_pages_are_taken_and_shown() -> None:
    assert PageQuery(5, "1.a").page == Page(5, "1.a")
    assert shown(Listed([1], "1.a")) == ListView([1], "1.a")
