"""What the exit code of a command says."""

from __future__ import annotations

DONE = 0
"""The command did what was asked; `recover`: the swarm is reconnected."""

NOT_DONE = 1
"""Not reconnected, not found, infeasible, a plan that does not verify, or a run that failed."""

WRONG_INPUT = 2
"""An option, a file or a folder cannot be used; one line on standard error says which and why."""

INTERNAL_ERROR = 70
"""A fault of reknit, with its traceback, or of somebody else's planner, in a line."""

INTERRUPTED = 130
"""Ctrl-C."""

CLOSED_PIPE = 141
"""Whoever read the standard output stopped doing so."""
