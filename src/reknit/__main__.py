"""``python -m reknit`` is the command `reknit`."""

from reknit.cli.app import main

main()
