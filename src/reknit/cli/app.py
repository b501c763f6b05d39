"""The commands, and how each way to end becomes an exit code. Slow imports wait until needed."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Annotated, Any

import typer

from reknit.base.errors import (
    BrokenPlanner,
    ImpossibleDemands,
    InvalidInput,
    InvalidPlan,
    ReknitError,
    UnknownName,
)
from reknit.base.version import VERSION
from reknit.cli import codes
from reknit.cli.compare import compare
from reknit.cli.operate import operate
from reknit.cli.planners import demands, planners
from reknit.cli.recover import recover
from reknit.cli.serve import serve
from reknit.cli.study import study_app
from reknit.cli.verify import verify
from reknit.cli.work import bench, pretrain

app = typer.Typer(
    help="Put a broken UAV swarm back in touch.",
    epilog="Exit codes: 0 done and reconnected, 1 not reconnected or not verified, "
    "2 wrong input, 70 a fault of reknit or of a planner that is not its own, 130 interrupted, "
    "141 the reader of the output went away.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

app.command(epilog="Example: reknit recover --uavs 200 --destroy 100 --seed 7 --out demo")(recover)
app.command(epilog="Example: reknit compare --uavs 100 --destroy 50 --seed 3 --out compare")(
    compare
)
app.command(epilog="Example: reknit operate --uavs 200 --destroy 100 --seed 7 --out demo")(operate)
app.command(epilog="Example: reknit verify demo/scenario.json demo/plan.json")(verify)
app.command(epilog="Example: reknit planners ml-dagl")(planners)
app.command(epilog="Example: reknit demands")(demands)
app.command(epilog="Example: reknit pretrain --preset default --out training")(pretrain)
app.command(epilog="Example: reknit bench --repeats 5")(bench)
app.add_typer(study_app, name="study")
app.command(epilog="Example: reknit serve --open")(serve)

# typer brings its own copy of click or uses the installed one, depending on its version.
_UsageError: Any = typer.BadParameter.__mro__[2]


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"reknit {VERSION}\n")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="The version."),
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Log to standard error; -vv: all.",
        ),
    ] = 0,
) -> None:
    """Put a broken UAV swarm back in touch."""
    if verbose:
        logging.getLogger("reknit").setLevel(logging.INFO if verbose == 1 else logging.DEBUG)


def run(words: Sequence[str]) -> int:
    """The exit code of a command; all that goes wrong is told in one line on standard error."""
    with _listening():
        try:
            code = _command()(list(words), prog_name="reknit", standalone_mode=False)
            sys.stdout.flush()
            return code if isinstance(code, int) else codes.DONE
        except (ImpossibleDemands, InvalidPlan) as error:
            return _tell(error, codes.NOT_DONE)
        except BrokenPlanner as error:
            return _tell(error, codes.INTERNAL_ERROR)
        except ReknitError as error:
            return _tell(_by_option(error, words), codes.WRONG_INPUT)
        except _UsageError as error:
            if not error.format_message().strip():  # a group of commands without one of them
                return run([*words, "--help"])
            return _tell(_usage(error, words), codes.WRONG_INPUT)
        except (KeyboardInterrupt, typer.Abort):
            return codes.INTERRUPTED
        except SystemExit as error:
            # typer answers a closed pipe by an exit of its own; nothing of reknit's ends so.
            return codes.CLOSED_PIPE if error.code == 1 else codes.INTERNAL_ERROR
        except BrokenPipeError:
            _leave_standard_output()
            return codes.CLOSED_PIPE
        except OSError as error:
            _leave_standard_output()
            where = error.filename or "standard output"
            return _tell(f"{where}: {error.strerror or error}", codes.WRONG_INPUT)
        except MemoryError:
            return _tell("not enough memory for this", codes.WRONG_INPUT)
        except Exception:
            traceback.print_exc()
            return codes.INTERNAL_ERROR


_UNIT = re.compile(r"_(m|s|mps2?|per_km2|mib)$")
_OTHER_NAMES = {"radio_range": "range", "max_speed": "speed", "max_acceleration": "acceleration"}
_OTHER_NAMES |= {"destroyed": "destroy", "planner": "planners"}
"""Options that are not called as the field or argument that they set, less its unit."""
_WHOLE_FIELDS = {"mission.speed_mps": "--cruise", "end_s": "--end"}
"""Options by the whole name of a field, after which another is called or which nobody typed."""


def _by_option(error: ReknitError, words: Sequence[str]) -> ReknitError:
    """The error with the option that was typed instead of what it sets."""
    # What an option puts in the place of a file's value is told with the file's name around it.
    cause = error.__cause__ if isinstance(error.__cause__, InvalidInput) else error
    if isinstance(cause, UnknownName):
        option = _option_of(cause.kind, words)
        return error if option is None else UnknownName(option, cause.name, cause.known)
    if isinstance(cause, InvalidInput):
        option = _option_of(cause.field, words)
        allowed = cause.allowed.removeprefix("None or ")  # nothing is not given by typing it
        return error if option is None else InvalidInput(option, cause.value, allowed)
    return error


def _option_of(field: str, words: Sequence[str]) -> str | None:
    """The option among the words that sets a field, such as ``--range`` for ``radio_range_m``."""
    if field in _WHOLE_FIELDS:
        return _WHOLE_FIELDS[field]
    owner, _, name = field.rpartition(".")
    if owner == "strike":  # its uavs are not those of --uavs
        option = _typed({owner}, words)
        return option and f"{option} {name}"
    plain = _UNIT.sub("", name)
    names = {name, plain, _OTHER_NAMES.get(plain)} - {None}
    names = names if _typed(names, words) else {owner}  # --mission sets mission.velocity_mps
    for before, word in pairwise(("", *words)):
        if before == "--demand" and word.partition("=")[0] == name:
            return f"--demand {name}"
        if owner and before == "--param" and word.partition("=")[0].strip() == name:
            return None  # PLANNER.name says it better than an option that is called the same
    return _typed(names, words)


def _typed(names: Collection[str | None], words: Sequence[str]) -> str | None:
    """The first option among the words that has one of these names."""
    options = (word.partition("=")[0] for word in words if word.startswith("--"))
    return next((option for option in options if option[2:].replace("-", "_") in names), None)


@cache
def _command() -> Any:
    """What typer makes of all the functions: most of the time of a short command."""
    return typer.main.get_command(app)


def _usage(error: Any, words: Sequence[str]) -> str:
    """A usage error of typer in one line: the option, its value, what is wrong, where help is."""
    text = " ".join(str(error.format_message()).split()).rstrip(".")
    names = getattr(getattr(error, "param", None), "opts", ())
    joined = (word.partition("=")[::2] for word in words if "=" in word)
    for name, value in (*pairwise(words), *joined):
        if name in names:
            text = f"{name} is {value!r}; {_in_own_words(str(error.message))}"
    context = getattr(error, "ctx", None)
    command = "reknit" if context is None else context.command_path
    return f"{text}; see: {command} --help"


_WORDS = (
    (r"Input should be a valid integer.*", "allowed: a whole number"),
    (r"Input should be a valid number.*", "allowed: a number"),
    (r"Input should be a valid boolean.*", "allowed: true or false"),
    (r"Input should be greater than or equal to (\S+)", r"allowed: at least \1"),
    (r"Input should be less than or equal to (\S+)", r"allowed: at most \1"),
)


def _in_own_words(message: str) -> str:
    """What typer says of a value that it cannot read."""
    text = " ".join(message.split()).rstrip(".")
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


def _tell(problem: object, code: int) -> int:
    sys.stderr.write(f"reknit: {' '.join(str(problem).split())}\n")
    return code


def _leave_standard_output() -> None:
    """Nothing more can be written there: have what is left in its buffer go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _listening() -> Iterator[None]:
    """While a command runs: warnings in one line, and reknit's log on standard error."""
    log = logging.getLogger("reknit")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("reknit: %(message)s"))
    level = log.level
    log.addHandler(handler)
    if level == logging.NOTSET:
        log.setLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _tell_warning(message)
        try:
            yield
        finally:
            log.removeHandler(handler)
            log.setLevel(level)


def _tell_warning(message: Warning | str) -> None:
    sys.stderr.write(f"reknit: warning: {' '.join(str(message).split())}\n")
