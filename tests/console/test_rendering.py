from markupsafe import Markup

from zurelay.console.languages import language
from zurelay.console.rendering import FOLDER, environment, texts


def test_what_is_filled_into_a_text_is_escaped_and_the_text_is_not() -> None:
    said = texts(language("en"))
    assert said["_"]("<code>x</code> %(name)s", name="<b>") == Markup("<code>x</code> &lt;b&gt;")
    assert said["ngettext"]("%(num)s key", "%(num)s keys", 1200) == "1,200 keys"
    assert texts(language("nl"))["_"]("Keys") == "Sleutels"


def test_every_template_can_be_read_and_escapes() -> None:
    made = environment()
    assert made.autoescape is True
    for path in FOLDER.glob("*.html"):
        made.get_template(path.name)
    assert made.from_string("{{ x }}").render(x="<b>") == "&lt;b&gt;"
