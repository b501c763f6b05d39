"""`reknit_v0`: version 0 of the environment for learners, under the usual names."""

from __future__ import annotations

from typing import Any

from reknit.knowledge.environment import SwarmEnvironment, SwarmVector

__all__ = ["SwarmEnvironment", "SwarmVector", "parallel_env", "vector_env"]


def parallel_env(**parameters: Any) -> SwarmEnvironment:
    """PettingZoo's parallel form.

    Parameters
    ----------
    parameters
        As of `SwarmEnvironment`.

    Returns
    -------
    SwarmEnvironment
    """
    return SwarmEnvironment(**parameters)


def vector_env(**parameters: Any) -> SwarmVector:
    """Gymnasium's vector form for one policy that all UAVs share.

    Parameters
    ----------
    parameters
        As of `SwarmEnvironment`.

    Returns
    -------
    SwarmVector
    """
    return SwarmVector(**parameters)
