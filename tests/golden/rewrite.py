"""Writes what every golden case expects anew: `python -m tests.golden.rewrite`."""

import json

from tests.golden.render import cases, render


def main() -> None:
    for path in cases():
        case = json.loads(path.read_text("utf-8"))
        case["expect"] = render(case)
        path.write_text(json.dumps(case, indent=2, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
