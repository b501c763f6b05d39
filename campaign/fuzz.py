"""Broken input files: one typed line and exit code 2, no traceback, no hang."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import warnings
from pathlib import Path

import reknit
from campaign.corpus import documents, drawn, drawn_tables
from campaign.limits import ending_within
from campaign.outcome import Outcome
from reknit.cli.app import run
from reknit.errors import ReknitError
from reknit.plans.files import plan_json
from reknit.study.library.instances import instance
from reknit.study.spec.study import load_study

_CHANGED, _OF_CORPORA, _DRAWN = 30, 10, 10
"""Files of one seed: good ones changed, broken documents, and those that hypothesis draws."""

_INSTANCE = "small-4-1"
_MOST_CPU_S = 10.0

_PIECES = (
    *("", "0", "-1", "1e308", "1e999", "-1e9", "1e-320", "NaN", "Infinity", "null", "true", "[]"),
    *("{}", "[[", '"', "'", ",", ":", "\n", "\r\n", "\t", "\0", "\ufeff", "\udc80", "9" * 5000),
    *("x" * 5000, "\u202e", "#", "=", "1,2", "0x10", "1_000", "--", "[" * 2000, "\x1b[2J"),
)

_STUDY = """
name = "good"
title = "A good study"
about = "Two planners."
seed = 4
repetitions = 1

[[planner]]
name = "contraction"
[[planner]]
name = "hero"
parameters = { weight = 1.0 }

[[case]]
uavs = [20, 30]
destroyed = [0.5, 12]

[[view]]
kind = "lines"
x = "uavs"
"""


class _TooLong(BaseException):
    """More computing than a wrong file may cost."""


def _break(text: str, rng: random.Random, encoding: str = "utf-8") -> bytes:
    """One to three changes: a piece replaced, cut out, doubled, or bits turned over."""
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([0, 1, 1, 2, 5, 20, 200]))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:start] + rng.choice(_PIECES) + text[end:]
        elif kind == 1:
            text = text[:start] + text[end:]
        elif kind == 2:
            text = text[:end] + text[start:end] + text[end:]
        elif kind == 3:
            # A whole number or word, so that the file stays well formed and its meaning changes.
            words = text.replace(",", " , ").split(" ")
            words[rng.randrange(len(words))] = rng.choice(_PIECES)
            text = " ".join(words)
        else:
            text = text[:start]
    errors = "surrogateescape" if encoding == "utf-8" else "replace"
    data = bytearray(text.encode(encoding, errors))
    if data and rng.random() < 0.15:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def fuzzed_files(seed: int, folder: Path) -> Outcome:
    """Fifty broken files, each given to the command that reads its kind."""
    rng = random.Random(seed)
    good = _good(seed, rng, folder)
    broken = [
        (kind, _changed(good[kind], kind, rng)) for kind in rng.choices(sorted(good), k=_CHANGED)
    ]
    for kind in rng.choices(sorted(good), k=_OF_CORPORA):
        text, document = good[kind], rng.choice(documents(Path(kind).suffix))
        at = rng.choice([0, len(text), rng.randrange(len(text))])
        broken.append((kind, rng.choice([document, text[:at] + document + text[at:]])))
    for kind in ("scenario.json", "plan.json"):
        values = drawn(json.loads(good[kind]), _DRAWN // 3, rng.randrange(2**32))
        broken += [(kind, json.dumps(value).encode()) for value in values]
    header = good["scenario.csv"].decode().partition("\n")[0]
    tables = drawn_tables(header, _DRAWN - 2 * (_DRAWN // 3), rng.randrange(2**32))
    broken += [("scenario.csv", text.encode("utf-8", "replace")) for text in tables]
    findings, refused = [], 0
    for number, (kind, data) in enumerate(broken):
        path = folder / f"broken-{number}{Path(kind).suffix}"
        path.write_bytes(data)
        fault, code = _fault(kind, path, folder)
        refused += code == 2
        if fault:
            findings.append(f"file {number}, a broken {kind}: {fault}")
    return Outcome(len(broken), tuple(findings), {"refused": refused})


def _good(seed: int, rng: random.Random, folder: Path) -> dict[str, bytes]:
    """One file of each kind that is in order; the scenario's is left in the folder."""
    scenario = reknit.generate(12, 6, seed=seed, dim=rng.choice([2, 3]))
    good = {}
    for name in ("scenario.json", "scenario.csv"):
        reknit.save_scenario(scenario, folder / name)
        good[name] = (folder / name).read_bytes()
    plan = reknit.plan(scenario, "certified")
    good["plan.json"] = plan_json(plan).encode()
    good["study.toml"] = _STUDY.encode()
    own = instance(_INSTANCE).best()
    (folder / "own.json").write_text(plan_json(own))
    good["library.gz"] = gzip.compress(plan_json(own).encode(), mtime=0)
    return good


def _changed(data: bytes, kind: str, rng: random.Random) -> bytes:
    """A good file with a few changes; of a packed one, now and then within it."""
    if kind != "library.gz":
        return _break(data.decode(), rng)
    if rng.random() < 0.5:
        return gzip.compress(_break(gzip.decompress(data).decode(), rng), mtime=0)
    return _break(data.decode("latin-1"), rng, "latin-1")


def _fault(kind: str, path: Path, folder: Path) -> tuple[str, int]:
    """What is wrong with the answer to a file, or nothing, and the exit code."""
    if kind == "plan.json":
        words = ["verify", str(folder / "scenario.json"), str(path)]
    elif kind == "study.toml":
        words = ["study", "run", str(path), "--out", str(folder / "results")]
    elif kind == "library.gz":
        library = folder / "library"
        library.mkdir(exist_ok=True)
        path.replace(library / f"{_INSTANCE}.json.gz")
        words = ["study", "submit", _INSTANCE, str(folder / "own.json"), "--out", str(library)]
    else:
        words = ["recover", str(path), "--planner", "contraction", "--budget", "1", "--json"]
    error = io.StringIO()
    try:
        with ending_within(_MOST_CPU_S, _TooLong()):
            if kind == "study.toml" and _is_study(path):
                return "", 0
            code = _call(words, error)
    except _TooLong:
        return f"more than {_MOST_CPU_S:g} s of computing", -1
    except Exception as escaped:
        return f"{type(escaped).__name__} escapes: {escaped}", -1
    text = error.getvalue()
    if code not in (0, 1, 2) or "Traceback" in text:
        return f"exit code {code}: {text[-300:]}", code
    lines = [line for line in text.splitlines() if line]
    if code == 2 and (len(lines) != 1 or not lines[0].startswith("reknit: ")):
        return f"not one plain line: {text[:300]!r}", code
    return "", code


def _is_study(path: Path) -> bool:
    """Whether a file is still a study: it might ask for days of work and is read, not run."""
    try:
        load_study(path)
    except ReknitError:
        return False
    return True


def _call(words: list[str], error: io.StringIO) -> int:
    """The exit code of a command run in this process."""
    with (
        contextlib.redirect_stderr(error),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        return run(words)
