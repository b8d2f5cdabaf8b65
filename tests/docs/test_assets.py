from pathlib import Path

from zurelay.docs import assets


def test_the_sites_files_and_the_consoles_have_an_address_of_their_own() -> None:
    assert assets.url("docs.css").startswith("/docs/assets/docs.")
    assert assets.url("console.css").startswith("/console/assets/console.")
    assert assets.url("nothing.css") == ""


def test_every_file_is_there() -> None:
    folder = Path(assets.__file__).parent / "assets"
    assert {path.name for path in folder.iterdir()} == set(assets.OURS.all)
