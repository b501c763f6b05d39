"""How objects show themselves in a notebook, without the layers below knowing about pictures."""

from __future__ import annotations

TYPE_CHECKING = False  # the package loads this first of all, and `typing` takes its time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Drawing(Protocol):
        """What draws: `plot` gives a figure of an object, `html` what a notebook shows of it."""

        def plot(self, item: Any, *context: Any) -> Any: ...

        def html(self, item: Any) -> str: ...


_loaders: list[Callable[[], Drawing]] = []


def drawn_by(load: Callable[[], Drawing]) -> None:
    """Say what draws all objects. `load` gives it, and is called when something is to be drawn."""
    _loaders[:] = [load]


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
        return _loaders[0]().plot(self, *context)

    def _repr_html_(self) -> str:
        return _loaders[0]().html(self)
