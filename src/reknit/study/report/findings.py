"""`Findings`: everything stored about a study, and what can be said of it in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from reknit.base.types import JsonDict
from reknit.study.report import tables
from reknit.study.report.prose import fill
from reknit.study.report.stats import paired, shared
from reknit.study.spec.study import PROFILES, Study
from reknit.study.store import RunnerCall, Store

PAIRED_HEADER = ("planner", "against", "scenarios", "difference (s)", "slower in")


@dataclass(frozen=True)
class Findings:
    """The stored runs of a study under a profile, and the sessions that made them.

    Parameters
    ----------
    study, profile
        What was asked for.
    rows
        The stored runs of it.
    wanted
        How many runs the profile has.
    sessions
        The calls of the runner.
    outdated
        Stored runs that the study no longer asks for: of planners with other defaults or weights.
    """

    study: Study
    profile: str
    rows: Sequence[JsonDict]
    wanted: int
    sessions: Sequence[RunnerCall]
    outdated: int = 0

    @cached_property
    def cells(self) -> list[tables.Cell]:
        """One summary per planner and kind of case."""
        return tables.summarise(self.rows)

    def compared(self) -> list[tuple[str, ...]]:
        """Every planner against the first, on the scenarios that both were run on."""
        labels = list(dict.fromkeys(row["label"] for row in self.rows))
        lines: list[tuple[str, ...]] = []
        for other in labels[1:]:
            difference = paired(self.rows, "charged_time_s", other, labels[0])
            if difference.count > 1:
                both = shared(self.rows, "charged_time_s", other, labels[0])
                slower = sum(mine > theirs for mine, theirs in both) / len(both)
                mean_difference = f"{difference.mean:+.2f} ± {difference.half_width:.2f}"
                lines.append(
                    (other, labels[0], str(difference.count), mean_difference, f"{slower:.0%}")
                )
        return lines

    def commands(self) -> str:
        """How to make all this again."""
        tail = f"{self.study.called} --profile {self.profile}"
        return f"`reknit study run {tail}` and `reknit study report {tail}`"

    def extent(self) -> str:
        """How many runs there are, of how many, and how long their planners computed: runs may
        have been made elsewhere, so how long this machine took says little.
        """
        part = "" if len(self.rows) == self.wanted else f" of {self.wanted}, unfinished"
        least, most = self._repetitions()
        each = f"{most}" if least == most else f"{least} to {most}"
        computed_s = sum(row["compute_s"] or 0.0 for row in self.rows)
        whole = len(self.study.tasks("paper"))
        fewer = ""
        if self.profile == "quick" and self.wanted < whole:
            fewer = f" The quick profile: {self.wanted} of the {whole} runs of the paper profile, "
            fewer += "with fewer repetitions and sizes."
        old = ""
        if self.outdated:
            old = f" {self.outdated} stored runs of planners as they were before are left out."
        done = f"{len(self.rows)} runs{part}, {each} of each kind; their planners computed for "
        done += f"{_duration(computed_s)}."
        return done + fewer + old

    def made_with(self) -> list[str]:
        """Machines and versions, one line for each combination that took part."""
        lines = (
            f"{session.machine}; {session.workers}; {session.versions}."
            for session in self.sessions
        )
        return list(dict.fromkeys(lines))

    def differences(self) -> str:
        """Why the paper's figures are others, with numbers from the runs."""
        return fill(self.study.differences, self.rows)

    def failures(self) -> str:
        """How many runs failed, by which errors, and the first one; empty if none did."""
        failed = [row for row in self.rows if not row["ok"]]
        if not failed:
            return ""
        kinds = Counter(str(row["error"]).partition(":")[0] for row in failed)
        causes = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
        first = str(failed[0]["error"]).splitlines()[0]
        told = f"{len(failed)} runs failed ({causes}); the first: "
        return f"{told}{failed[0]['label']}: {first}"

    def _repetitions(self) -> tuple[int, int]:
        counts = [cell.runs + cell.failed for cell in self.cells] or [0]
        return min(counts), max(counts)


def gather(study: Study, store_path: Path | str, profile: str) -> Findings:
    """Read what is stored; raises `StoreRefused` if nothing is, or something else."""
    tasks = study.tasks(profile)
    with Store(Path(store_path), study, read_only=True) as store:
        asked = {task.key for name in PROFILES for task in study.tasks(name)}
        outdated = len(store.done().keys() - asked)
        rows, sessions = store.rows(tasks), store.sessions()
    return Findings(study, profile, rows, len(tasks), sessions, outdated)


READING = (
    "Times are means over all runs with 95 % intervals (Student's t); a run that does not "
    "reconnect counts with the allowed time, as in the paper's table. All planners saw the same "
    "scenarios, so differences are paired. Where a planner has fewer runs, they are the first of "
    "the same list. Numbers in brackets are the paper's."
)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"
