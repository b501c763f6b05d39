"""How objects show themselves in a notebook, without the layers below knowing about pictures."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PICTURES = "reknit.viz.notebook"
"""Draws; named here and loaded on first use, since no layer imports from one above it."""


class Displayed:
    """An object with a picture: `plot` gives it, notebooks show it by themselves."""

    def plot(self, *context: Any) -> Any:
        """Draw the object.

        Parameters
        ----------
        context
            For a `Plan` or a `Flight`, the `Scenario` that it belongs to.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return import_module(_PICTURES).plot(self, *context)

    def _repr_html_(self) -> str:
        return str(import_module(_PICTURES).html(self))
