"""Exit codes as scripts see them, in processes of their own."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import reknit
from reknit.base.version import VERSION
from tests.cli.processes import CASE, reknit_process


def test_a_swarm_that_reconnects_is_zero_and_one_that_does_not_is_one() -> None:
    """`recover` can stand in a condition of a shell script."""
    assert reknit_process("recover", *CASE).returncode == 0
    far = ("recover", "--uavs", "200", "--destroy", "100", "--planner", "hero", "--json")
    done = reknit_process(*far)
    assert json.loads(done.stdout)["metrics"]["converged"] is False
    assert done.returncode == 1


def test_demands_that_cannot_be_met_are_one(tmp_path: Path) -> None:
    """Anchors out of each other's range can never be linked: proved, told in one line, code 1."""
    scenario = reknit.Scenario([[0.0, 0.0], [500.0, 0.0]], [], 120.0, anchors=[0, 1])
    reknit.save_scenario(scenario, tmp_path / "case.json")
    done = reknit_process("recover", str(tmp_path / "case.json"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_a_network_that_misses_a_demand_is_not_called_unconnected() -> None:
    """The status names what is the matter, and the code is that of a swarm that is not restored."""
    swarm = ("--uavs", "60", "--destroy", "30", "--seed", "3", "--split")
    done = reknit_process(
        "recover", *swarm, "--planner", "contraction", "--demand", "connectivity=2"
    )
    assert done.returncode == 1
    assert "connected, but not as demanded" in done.stdout


def test_inertia_is_told_where_the_bound_neglects_it() -> None:
    """Beside a flight that is longer than planned."""
    told = "with inertia, which plan and bound neglect"
    assert told in reknit_process("recover", *CASE, "--acceleration", "2").stdout
    assert told not in reknit_process("recover", *CASE).stdout


USAGE = {
    "not a number": (("recover", "--uavs", "many"), "--uavs is 'many'"),
    "not a number, joined": (("recover", "--uavs=many"), "--uavs is 'many'"),
    "no such option": (("recover", "--uav", "3"), "No such option"),
    "no such command": (("recovr",), "'recover'"),
    "no such command of study": (("study", "runn"), "'run'"),
    "no value": (("recover", "--budget"), "--budget"),
    "too many files": (("recover", "a.json", "b.json"), "b.json"),
    "missing argument": (("verify", "a.json"), "PLAN"),
    "below the least": (("bench", "--repeats", "0"), "--repeats is '0'"),
}


@pytest.mark.parametrize(("words", "told"), USAGE.values(), ids=USAGE)
def test_usage_errors_are_one_line(words: tuple[str, ...], told: str) -> None:
    """No box: the option, its value and where help is, in one line; exit code 2."""
    done = reknit_process(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.startswith("reknit: ")
    assert "--help" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_no_command_shows_the_help_and_the_exit_codes() -> None:
    """`reknit` alone and `reknit study` alone answer with their help."""
    for words, known in (((), "recover"), (("study",), "report")):
        done = reknit_process(*words)
        assert done.returncode == 0
        assert known in done.stdout
    assert "Exit codes" in reknit_process("--help").stdout


def test_the_version_is_the_packages() -> None:
    """--version prints it and nothing else."""
    assert reknit_process("--version").stdout == f"reknit {VERSION}\n"


def test_a_full_standard_output_is_told() -> None:
    """What cannot be printed is an error with a reason, not a traceback at exit."""
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = reknit_process("recover", *CASE, capture_output=False, stdout=full, stderr=-1)
    assert done.returncode == 2
    assert done.stderr == "reknit: standard output: No space left on device\n"


@pytest.mark.parametrize(("stream", "code"), [(">&-", 0), ("2>&-", 2), (">&- 2>&-", 2)])
def test_a_stream_that_is_closed_from_the_start_is_not_written_to(stream: str, code: int) -> None:
    """The exit code alone tells then, as it does with /dev/null in its place."""
    words = "--version" if code == 0 else "recover --uavs 1"
    command = f"{shlex.quote(sys.executable)} -m reknit {words} {stream}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_a_closed_pipe_is_quiet() -> None:
    """`reknit planners | head -1` prints no traceback."""
    read, write = os.pipe()
    os.close(read)
    done = reknit_process("planners", capture_output=False, stdout=write, stderr=-1)
    os.close(write)
    assert done.returncode == 141
    assert done.stderr == ""


@pytest.mark.parametrize("loaded", ["reknit.base.errors", "typer", "numpy", "scipy.spatial"])
def test_an_interrupt_at_any_moment_is_130_without_a_word(loaded: str) -> None:
    """Ctrl-C while modules are still being loaded ends in code 130 and no traceback.

    Python tells of every module it has loaded, so the interrupt comes at a known moment.
    """
    command = [sys.executable, "-X", "importtime", "-m", "reknit", "recover", "--uavs", "3000"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, bufsize=1
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.split("|")[-1].strip() == loaded:
                process.send_signal(signal.SIGINT)
                break
        rest = [line for line in process.stderr if not line.startswith("import time:")]
        assert process.wait(timeout=60) == 130
    assert rest == []


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        ("threading.Thread(target=interrupt_after_main).start()", 130),
        ("atexit.register(interrupt)", 0),
        ("signal.Handler = type('', (), {'__del__': lambda _: interrupt()})()", 0),
    ],
    ids=["while threads end", "at exit", "while modules are taken apart"],
)
def test_an_interrupt_after_the_command_is_never_a_word(moment: str, code: int) -> None:
    """Ctrl-C while Python is on its way out, after the last line was printed, ends it at once or
    comes too late; it is neither a traceback nor an end by a signal.
    """
    program = (
        "import atexit, os, signal, sys, threading; from reknit.cli import main\n"
        "def interrupt(kill=os.kill, pid=os.getpid()): kill(pid, 2)\n"
        "def interrupt_after_main(): threading.main_thread().join(); interrupt()\n"
        f"{moment}; sys.argv = ['reknit', '--version']; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith("reknit ")


def test_a_log_is_written_only_when_asked_for() -> None:
    """-v logs under the name reknit to standard error; the JSON stays clean."""
    words = ("compare", *CASE, "--planners", "sidr", "--json")
    assert reknit_process(*words).stderr == ""
    done = reknit_process("-v", *words)
    assert "sidr" in done.stderr
    assert json.loads(done.stdout)["runs"][0]["planner"] == "sidr"
    search = reknit_process("-vv", "recover", "--uavs", "200", "--destroy", "180", "--seed", "3")
    assert "bound" in search.stderr
