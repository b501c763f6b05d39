"""`write_player`: one page that shows a run without any service, script or font from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from reknit.base.files import write_text
from reknit.recovery.runs import Run
from reknit.serve.tasks import recovery_model
from reknit.swarm.files import scenario_file

PAGE = Path(__file__).parent / "page"
PLAYER_FILE = "index.html"
_MOST_NUMBERS = 600_000
"""Coordinates that one page holds; longer flights are thinned."""
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


def write_player(runs: Run | Sequence[Run], folder: Path) -> Path:
    """Write `index.html`, which plays the runs in any browser, also from a disk.

    Parameters
    ----------
    runs
        One run, or several of one scenario, shown side by side.
    folder
        An existing folder.

    Returns
    -------
    Path
        Of the page.
    """
    shown = [runs] if isinstance(runs, Run) else list(runs)
    scenario = shown[0].scenario
    size = len(scenario.survivors) * scenario.dim * len(shown)
    frames = max(2, min(400, _MOST_NUMBERS // size))
    model = scenario_file(scenario).model_dump(mode="json")
    model["destroyed"] = scenario.destroyed.tolist()  # by row, also where UAVs have names
    model["anchors"] = [int(row) for row in scenario.anchors]
    model["radio_range_m"] = scenario.radio_range_m  # also where a radio decides it
    data = {
        "scenario": model,
        "recoveries": [recovery_model(run, frames).model_dump(mode="json") for run in shown],
    }
    path = folder / PLAYER_FILE
    write_text(path, _page(", ".join(run.planner for run in shown), json.dumps(data)))
    return path


def _page(title: str, data: str) -> str:
    style = (PAGE / "style.css").read_text(encoding="utf-8")
    script = bundle("player.js")
    # "</script>" inside the data would end it; as an escape it is the same JSON.
    safe = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "style": style,
        "data": safe,
        "script": script,
    }
    page = (PAGE / "player.html").read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: parts[match.group(1)], page)


@cache
def bundle(entry: str) -> str:
    """The module and all it imports as one module, each before those that need it."""
    order: list[str] = []
    _visit(entry, order)
    texts = []
    for name in order:
        text = _IMPORT.sub("", (PAGE / name).read_text(encoding="utf-8"))
        texts.append(re.sub(r"^export (?!\{)", "", text, flags=re.MULTILINE))
    return "\n".join(texts).replace("</", "<\\/")


def _visit(name: str, order: list[str]) -> None:
    if name in order:
        return
    for needed in _IMPORT.findall((PAGE / name).read_text(encoding="utf-8")):
        _visit(needed, order)
    order.append(name)


def _digest(text: str) -> str:
    value = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{value}"
