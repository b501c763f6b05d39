"""The command line: it parses, calls and prints."""

from __future__ import annotations

from reknit.cli.app import main

__all__ = ["main"]
