"""What a study was run with: the computer and the versions, as facts to print."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reknit.base.version import VERSION

_PACKAGES = (
    *("numpy", "scipy", "clarabel", "torch", "torch_geometric", "matplotlib"),
    *("duckdb", "joblib", "ray"),
)


def versions() -> str:
    """reknit, Python and the packages that matter, those that are installed."""
    parts = [f"reknit {VERSION}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(parts)


def machine() -> str:
    """Processor, cores, memory and system; no names and no paths of the computer."""
    cores = os.cpu_count() or 1
    parts = [_processor(), f"{cores} core{'s' if cores > 1 else ''}"]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        parts.append(f"{size / 2**30:.0f} GiB of memory")
    return ", ".join([*parts, f"{platform.system()} {platform.machine()}"])


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
