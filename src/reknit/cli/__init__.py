"""The command line: it parses, calls and prints.

Exit codes: see `reknit.cli.codes`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command of ``sys.argv`` and exit with its code.

    Loading the commands takes a tenth of a second in which nothing has been written yet, so an
    interrupt during that time ends the process at once; afterwards it is a KeyboardInterrupt,
    on whose way out everything that was begun is cleaned up.
    """
    # `signal` takes milliseconds to load, in which an interrupt would still be a traceback.
    import _signal  # type: ignore[import-not-found]
    import os
    import sys

    from reknit.cli.codes import INTERRUPTED

    try:
        before = _signal.signal(_signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    except ValueError:  # not the main thread, which alone is interrupted
        before = None
    from reknit.cli.app import run

    if before is not None:
        _signal.signal(_signal.SIGINT, before)
    code = run(sys.argv[1:])
    if code == INTERRUPTED:
        # An interrupt that Python noticed inside exec(), where dataclasses are made, would have
        # it end by a signal instead of this code.
        sys.stdout.flush()
        os._exit(INTERRUPTED)
    sys.exit(code)


__all__ = ["main"]
