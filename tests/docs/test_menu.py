from zurelay.docs.menu import PAGES, SECTIONS, beside


def test_each_page_stands_in_the_menu_once() -> None:
    assert len(PAGES) == len(set(PAGES)) == sum(len(section.pages) for section in SECTIONS)


def test_pages_lead_from_the_first_to_the_last() -> None:
    read = []
    page: str | None = PAGES[0]
    while page is not None:
        read.append(page)
        before, page = beside(page)
        assert before == (read[-2] if len(read) > 1 else None)
    assert tuple(read) == PAGES
