"""Logging under the name `reknit`; silent unless the application asks for it."""

from __future__ import annotations

import logging

logging.getLogger("reknit").addHandler(logging.NullHandler())


def logger(name: str) -> logging.Logger:
    """The logger of one module, `reknit.<module>`."""
    return logging.getLogger(name)
