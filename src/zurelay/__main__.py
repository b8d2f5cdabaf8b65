"""`python -m zurelay` is the command `zurelay`."""

import sys

from zurelay.cli import main

if __name__ == "__main__":
    sys.exit(main())
