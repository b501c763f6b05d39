"""``python -m reknit`` is the command `reknit`."""

from reknit.cli import main

main()
