"""The command line: it parses, calls and prints.

Exit codes: see `reknit.cli.codes`.
"""

from __future__ import annotations


def main() -> None:
    """Run the command of ``sys.argv`` and exit with its code; the process is this command's.

    An interrupt ends the process at once until a command begins to work, which
    `reknit.cli.console.progress_bar` marks: before, nothing has been written, and modules that
    are being loaded may swallow a KeyboardInterrupt or turn it into a traceback. From then on it
    is a KeyboardInterrupt, on whose way out everything that was begun is cleaned up. When the
    command is done it ends the process at once again, and from when Python takes itself apart,
    which it would end by a traceback or a signal, it comes too late and is ignored.
    `reknit.cli.app.run` is for those whose process goes on.
    """
    # `signal` takes milliseconds to load, in which an interrupt would still be a traceback.
    import _signal  # type: ignore[import-not-found]

    def quit_when_interrupted() -> None:
        try:
            _signal.signal(_signal.SIGINT, quit_at_once)
        except ValueError:
            return  # not the main thread, which alone is interrupted

    quit_when_interrupted()
    import atexit
    import os
    import sys

    atexit.register(_signal.signal, _signal.SIGINT, _signal.SIG_IGN)

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started this: nobody wants to read it
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))

    from reknit.cli.app import run
    from reknit.cli.codes import INTERRUPTED

    code = run(sys.argv[1:])
    quit_when_interrupted()
    if code == INTERRUPTED:
        # An interrupt that Python noticed inside exec(), where dataclasses are made, would have
        # it end by a signal instead of this code.
        sys.stdout.flush()
        os._exit(INTERRUPTED)
    sys.exit(code)


def quit_at_once(*_: object) -> None:
    """Answer an interrupt by which nothing that matters is lost."""
    import os

    from reknit.cli.codes import INTERRUPTED

    os._exit(INTERRUPTED)


__all__ = ["main", "quit_at_once"]
