"""Speed and steadiness of the service and of the studio's page.

Run: python -m benchmarks.bench_serve [--plans 40] [--rounds 5] [--soak-minutes 0.5] [--workers 2]

Prints the rate of certified plans over HTTP against the same plans in as many processes, measured
in turns; latencies with 32 clients; a soak with workers killed by SIGKILL every few seconds; and
the time to paint a frame of the studio.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

import reknit
from reknit.swarm.files import scenario_file

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLIENTS = 32
KILL_EVERY_S = 3.0


@dataclass(frozen=True)
class Served:
    """A service in a process of its own."""

    url: str
    pid: int

    def workers(self) -> list[int]:
        """Its worker processes."""
        text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [int(pid) for pid in text.split()]

    def memory_mib(self) -> float:
        """Resident memory of the service itself."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0


@contextmanager
def served(workers: int) -> Iterator[Served]:
    """`reknit serve` on a free port, all workers ready."""
    command = [sys.executable, "-m", "reknit", "serve", "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        url = next(word for word in line.split() if word.startswith("http"))
        while httpx.get(f"{url}v1/health").json()["workers_ready"] < workers:
            time.sleep(0.1)
        yield Served(url, process.pid)
    finally:
        process.terminate()
        process.wait()


def body_of(seed: int, uavs: int = 200) -> bytes:
    """A request for a certified plan of a swarm that lost half of its UAVs."""
    scenario = reknit.generate(uavs, 0.5, seed=seed, split=True)
    text = scenario_file(scenario).model_dump_json()
    return f'{{"scenario": {text}, "planner": "certified"}}'.encode()


def plan_in_process(seed: int) -> float:
    """One plan as a program makes it; the scenario is fresh, so nothing is remembered."""
    scenario = reknit.generate(200, 0.5, seed=seed, split=True)
    began_s = time.perf_counter()
    reknit.plan(scenario, "certified")
    return time.perf_counter() - began_s


def post(http: httpx.Client, path: str, body: bytes) -> httpx.Response:
    """One request."""
    return http.post(path, content=body, headers={"content-type": "application/json"})


def measure_rate(service: Served, plans: int, rounds: int, workers: int) -> None:
    """The rate over HTTP against the rate in processes, in turns."""
    bodies = [body_of(seed) for seed in range(plans)]
    ratios: list[float] = []
    rates: list[tuple[float, float]] = []
    context = get_context("spawn")
    with (
        ProcessPoolExecutor(workers, mp_context=context) as processes,
        ThreadPoolExecutor(2 * workers) as threads,
        httpx.Client(base_url=service.url, timeout=120) as http,
    ):
        list(processes.map(plan_in_process, range(2 * workers)))
        list(threads.map(lambda body: post(http, "/v1/plans", body), bodies[: 2 * workers]))
        for _ in range(rounds):
            own_s = sum(processes.map(plan_in_process, range(plans))) / workers
            began_s = time.perf_counter()
            answers = list(threads.map(lambda body: post(http, "/v1/plans", body), bodies))
            http_s = time.perf_counter() - began_s
            assert all(answer.status_code == 200 for answer in answers)
            ratios.append(own_s / http_s)
            rates.append((plans / own_s, plans / http_s))
    own, over = (statistics.median(column) for column in zip(*rates, strict=True))
    print(
        f"200-UAV certified plans, {workers} processes: {own:.1f}/s in process, {over:.1f}/s over "
        f"HTTP; ratio {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f}; {rounds} rounds of {plans}; wanted 0.60)"
    )


def measure_latency(service: Served, requests: int) -> None:
    """Latencies with many clients at once."""
    bodies = [body_of(seed) for seed in range(20)]
    waits_s: list[float] = []

    def client(number: int) -> None:
        with httpx.Client(base_url=service.url, timeout=120) as http:
            for k in range(requests // CLIENTS):
                began_s = time.perf_counter()
                answer = post(http, "/v1/plans", bodies[(number + k) % len(bodies)])
                waits_s.append(time.perf_counter() - began_s)
                assert answer.status_code == 200

    with ThreadPoolExecutor(CLIENTS) as threads:
        list(threads.map(client, range(CLIENTS)))
    waits_s.sort()
    median_s, late_s = waits_s[len(waits_s) // 2], waits_s[int(0.99 * len(waits_s))]
    print(
        f"{CLIENTS} clients, {len(waits_s)} plans: median {median_s * 1e3:.0f} ms, p99 "
        f"{late_s * 1e3:.0f} ms, {late_s / median_s:.1f} times the median (wanted below 10)"
    )


def ask(http: httpx.Client, rng: random.Random, path: str, body: bytes) -> str:
    """One request in one of three ways (waited for, as a job, as a job that is cancelled), and
    how it ended.
    """
    way = rng.choice(("waited", "waited", "job", "cancelled"))
    if way == "waited":
        answer = post(http, path, body)
    else:
        headers = {"content-type": "application/json", "prefer": "respond-async"}
        answer = http.post(path, content=body, headers=headers)
        if answer.status_code == 202:
            place = answer.headers["location"]
            if way == "cancelled":
                time.sleep(rng.uniform(0.0, 0.2))
                return f"job {http.delete(place).json()['state']} by its client"
            with http.stream("GET", f"{place}/events") as events:
                for _ in events.iter_lines():
                    pass
            answer = http.get(f"{place}/result")
            http.delete(place)
    kind = answer.json().get("type", "result").rpartition(":")[2]
    return f"{answer.status_code} {kind}"


def soak(service: Served, minutes: float, workers: int) -> None:
    """Mixed load while workers are killed: every request must end in a result or a clear error."""
    end_s = time.monotonic() + minutes * 60
    outcomes: Counter[str] = Counter()
    paths = ("/v1/plans", "/v1/recoveries", "/v1/bounds", "/v1/scenarios")
    good = [body_of(seed, uavs) for seed, uavs in enumerate((20, 60, 200, 200, 400))]

    def client(number: int) -> None:
        rng = random.Random(number)
        with httpx.Client(base_url=service.url, timeout=600) as http:
            while time.monotonic() < end_s:
                path = rng.choice(paths)
                body = rng.choice(good)
                if path == "/v1/bounds":
                    body = body.replace(b', "planner": "certified"', b"")
                if path == "/v1/scenarios":
                    body = b'{"uavs": 50}'
                if rng.random() < 0.1:
                    body = body[: rng.randrange(len(body))]
                try:
                    outcomes[ask(http, rng, path, body)] += 1
                except httpx.HTTPError as error:
                    outcomes[f"LOST {type(error).__name__}"] += 1

    def killer() -> None:
        rng = random.Random(0)
        while time.monotonic() < end_s:
            time.sleep(KILL_EVERY_S * rng.uniform(0.5, 1.5))
            pids = service.workers()
            # One at least must have got ready since, or on a busy machine nobody ever works.
            if pids and httpx.get(f"{service.url}v1/health").json()["workers_ready"]:
                os.kill(rng.choice(pids), signal.SIGKILL)
                outcomes["workers killed"] += 1

    memory_mib: list[float] = []

    def watch() -> None:
        while time.monotonic() < end_s:
            memory_mib.append(service.memory_mib())
            time.sleep(min(5.0, minutes * 6))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    threads += [threading.Thread(target=killer), threading.Thread(target=watch)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    health = {"workers_ready": 0}
    for _ in range(600):
        health = httpx.get(f"{service.url}v1/health").json()
        if health["workers_ready"] == workers and len(service.workers()) == workers:
            break
        time.sleep(0.1)
    third = len(memory_mib) // 3
    print(
        f"soak of {minutes:g} min: {dict(sorted(outcomes.items()))}; memory of the service "
        f"{memory_mib[0]:.0f} MiB at first, mean {statistics.mean(memory_mib[: third or 1]):.1f} "
        f"in the first third and {statistics.mean(memory_mib[-third:]):.1f} in the last, "
        f"{max(memory_mib):.0f} at most; workers at the end {len(service.workers())} of {workers}",
        flush=True,
    )
    assert not any(name.startswith(("LOST", "500")) for name in outcomes), outcomes


def measure_frames(service: Served) -> None:
    """What a frame of the studio costs at 1,000 and 10,000 UAVs in flight, and how many a second
    the browser shows.

    No graphics card is needed or used: the marks are painted by the processor. The cost is the
    page's own processor time, by the clock of its thread, so that other programs do not count;
    frames a second are what was seen on the machine as it was.
    """
    chromium = shutil.which("chromium")
    if chromium is None:
        print("studio: chromium is not installed, no frames measured")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        for uavs in (1_000, 10_000):
            page.goto(service.url)
            while not page.evaluate("Boolean(window.reknit?.scenario)"):
                time.sleep(0.05)
            text = scenario_file(reknit.generate(uavs, 0.5, seed=1)).model_dump_json()
            file = {"name": "a.json", "mimeType": "application/json", "buffer": text.encode()}
            page.set_input_files("#file", file)  # type: ignore[arg-type]
            while page.evaluate("reknit.scenario.positions_m.length") != uavs:
                time.sleep(0.05)
            choose = """document.querySelectorAll('#planners input').forEach(
                (box) => { box.checked = box.value === 'contraction'; })"""
            page.evaluate(choose)
            page.click("#mend-now")
            while not page.evaluate("reknit.runs.every((r) => r.recovery || r.problem)"):
                time.sleep(0.1)
            page.evaluate("reknit.stage.playing = false")
            frame_ms = _paint_cpu_ms(page)
            shown = page.evaluate(_PLAY)
            load = os.getloadavg()[0]
            print(
                f"studio, {uavs} UAVs in flight, painted by the processor: {frame_ms:.1f} ms of "
                f"processor time to paint a frame (60 a second: 16.7), {shown:.0f} frames a "
                f"second shown, load average {load:.1f} on {os.cpu_count()} cores",
                flush=True,
            )
        browser.close()


_FRAMES = 60
_PAINT = """(frames) => {
    for (let k = 0; k < frames; k++) {
        reknit.stage.time = reknit.stage.end * k / frames;
        reknit.stage.paint();
        reknit.stage.panels[0].canvas.getContext('2d').getImageData(0, 0, 1, 1);
    }
}"""
_PLAY = """async () => {
    const { stage } = reknit;
    let frames = 0;
    const began = performance.now();
    await new Promise((done) => {
        const next = () => {
            frames += 1;
            if (stage.time >= stage.end * 0.95) stage.time = 0;
            stage.playing = true;
            if (performance.now() - began < 5000) requestAnimationFrame(next);
            else done();
        };
        requestAnimationFrame(next);
    });
    stage.playing = false;
    return frames / ((performance.now() - began) / 1000);
}"""


def _paint_cpu_ms(page: Page) -> float:
    """Processor time of the page's thread for one frame, milliseconds; raster included."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(row["value"]) for row in metrics if row["name"] == "TaskDuration")

    page.evaluate(_PAINT, _FRAMES)  # the first frames compile the page's code
    before_s = busy_s()
    page.evaluate(_PAINT, _FRAMES)
    return (busy_s() - before_s) / _FRAMES * 1e3


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plans", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=640)
    parser.add_argument("--soak-minutes", type=float, default=0.5)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    with served(chosen.workers) as service:
        if chosen.rounds > 0:
            measure_rate(service, chosen.plans, chosen.rounds, chosen.workers)
        if chosen.requests > 0:
            measure_latency(service, chosen.requests)
        if chosen.soak_minutes > 0:
            soak(service, chosen.soak_minutes, chosen.workers)
        measure_frames(service)


if __name__ == "__main__":
    main()
