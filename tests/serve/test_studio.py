"""The studio in a real browser: a user's tasks from end to end, with looks at the pixels."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import reknit
from reknit.network.cuts import cut_nodes_and_bridges
from reknit.network.hops import hops_within
from reknit.network.links import adjacency
from reknit.network.links import links as radio_links
from reknit.serve.studio import write_player
from reknit.swarm.files import scenario_file
from tests.serve.running import Running, running, until

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parents[2] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
BLUE, ORANGE = (0x5A, 0xA9, 0xFF), (0xE6, 0x9F, 0x00)
HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">"

IS_CI = bool(os.environ.get("CI"))
"""There the browser must be installed: its tests fail instead of being skipped."""

pytestmark = pytest.mark.skipif(CHROMIUM is None and not IS_CI, reason="chromium is not installed")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test when a script fails or the content policy is broken."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme="dark")
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on(
        "console",
        lambda entry: faults.append(entry.text) if "Content Security" in entry.text else None,
    )
    yield page
    context.close()
    assert not faults


def _scenario() -> reknit.Scenario:
    """Two groups in a row, 200 m apart: anybody can tell where everything must be drawn."""
    left = [[0.0, 0.0], [100.0, 0.0], [100.0, 100.0]]
    right = [[300.0, 0.0], [400.0, 0.0]]
    return reknit.Scenario([*left, [200.0, 0.0], *right], [3], radio_range_m=120.0)


def _open(page: Page, service: Running) -> None:
    page.goto(service.url)
    until(lambda: bool(page.evaluate("Boolean(window.reknit?.scenario)")))


def _drop(page: Page, name: str, text: str) -> None:
    """Choose a file, as the button does."""
    page.set_input_files(
        "#file", {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    )


def _load(page: Page, scenario: reknit.Scenario) -> None:
    _drop(page, "case.json", scenario_file(scenario).model_dump_json())
    until(lambda: "Opened" in page.inner_text("#status"))


def _mended(page: Page, count: int) -> None:
    runs = f"reknit.runs.length === {count} && reknit.runs.every((r) => r.recovery || r.problem)"
    until(lambda: bool(page.evaluate(runs)), 120.0)


def _choose(page: Page, *names: str) -> None:
    script = """(names) => document.querySelectorAll('#planners input').forEach(
        (box) => { box.checked = names.includes(box.value); })"""
    page.evaluate(script, list(names))


def _settle(page: Page) -> None:
    """Wait until what was asked for is painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _pixels(page: Page, panel: int = 0) -> Any:
    _settle(page)
    shot = page.locator(".panel canvas").nth(panel).screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def _screen(page: Page, point: Sequence[float]) -> list[float]:
    place: list[float] = page.evaluate(
        "([x, y]) => reknit.stage.camera.project(x, y, 0)", list(point)
    )
    return place


def _colour_at(pixels: Any, place: list[float]) -> tuple[int, ...]:
    return tuple(pixels[round(place[1]), round(place[0])])


def _is_near(colour: tuple[int, ...], wanted: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(colour, wanted, strict=True)) <= 24


def test_uavs_and_links_are_where_they_must_be(page: Page, service: Running) -> None:
    """Survivors have the colour of their sub-net, links run between them, and nowhere else."""
    _open(page, service)
    _load(page, _scenario())
    assert "2 sub-nets" in page.inner_text("#summary")
    pixels = _pixels(page)
    for point in ([0, 0], [100, 0], [100, 100]):
        assert _is_near(_colour_at(pixels, _screen(page, point)), BLUE), point
    for point in ([300, 0], [400, 0]):
        assert _is_near(_colour_at(pixels, _screen(page, point)), ORANGE), point
    ground = _colour_at(pixels, _screen(page, [250, 60]))
    blue_link = _colour_at(pixels, _screen(page, [50, 0]))
    assert blue_link[2] > ground[2] + 40
    gap = _screen(page, [250, 0])
    column = pixels[round(gap[1]) - 3 : round(gap[1]) + 4, round(gap[0])]
    assert np.abs(column - np.asarray(ground)).max() <= 20  # a line of the grid


def test_break_mend_compare(page: Page, service: Running) -> None:
    """A stranger's way: strike a UAV, mend with three planners, watch them on one time line."""
    _open(page, service)
    _load(page, _scenario())
    place = _screen(page, [100, 100])
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + place[0], box["y"] + place[1])
    until(lambda: "2 destroyed" in page.inner_text("#summary"))
    page.click("#undo")
    until(lambda: "1 destroyed" in page.inner_text("#summary"))
    _choose(page, "certified", "contraction", "center-fly")
    page.click("#mend-now")
    _mended(page, 3)
    assert page.locator(".panel").count() == 3
    own = reknit.plan(_scenario(), "certified")
    assert own.recovery_time_s == pytest.approx(4.0)  # 200 m to close to 120 m, two of 10 m/s
    certified = page.locator(".panel", has_text="certified")
    assert f"{own.recovery_time_s:.2f} s" in certified.inner_text()
    assert "optimal" in certified.inner_text()
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(0)")
    number = page.evaluate("reknit.runs.findIndex((run) => run.planner === 'certified')")
    assert _is_near(_colour_at(_pixels(page, number), _screen(page, [300, 0])), ORANGE)
    page.evaluate("reknit.stage.setTime(reknit.stage.end)")
    end = own.targets[-1].tolist()
    assert _is_near(_colour_at(_pixels(page, number), _screen(page, end)), BLUE)
    chart = page.locator("#chart").screenshot()
    seen = np.asarray(Image.open(io.BytesIO(chart)).convert("RGB")).astype(int)
    proof = (np.abs(seen - np.asarray([0xFF, 0x5F, 0xA2])).max(axis=2) < 40).sum(axis=0)
    assert proof.max() > 30  # the bound is a line from top to bottom


def test_strikes_painted_and_chosen(page: Page, service: Running) -> None:
    """Disc, lasso, the most critical and random losses all break the swarm."""
    _open(page, service)
    _load(page, reknit.generate(80, [], seed=2))
    assert page.evaluate("reknit.scenario.destroyed.length") == 0
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.click("[data-tool=disc]")
    page.mouse.click(*middle)
    by_disc = page.evaluate("reknit.scenario.destroyed.length")
    assert 0 < by_disc < 80
    page.click("[data-tool=lasso]")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    for x, y in ((middle[0], box["y"] + 5), middle, (box["x"] + 5, middle[1])):
        page.mouse.move(x, y, steps=3)
    page.mouse.up()
    by_lasso = page.evaluate("reknit.scenario.destroyed.length")
    assert by_disc < by_lasso < 80
    page.fill("#critical-count", "4")
    page.click("#strike-critical")
    assert page.evaluate("reknit.scenario.destroyed.length") == by_lasso + 4
    page.click("#strike-random")
    assert page.evaluate("reknit.scenario.destroyed.length") > by_lasso + 4
    ids = page.evaluate("reknit.scenario.destroyed")
    own = reknit.generate(80, ids, seed=2)
    count = page.evaluate("reknit.stage.panels[0].picture.network.count")
    assert count == own.subnet_count


def test_a_link_holds_the_whole_view(page: Page, service: Running, browser: Browser) -> None:
    """The link opens the same scenario and planners in another browser window."""
    _open(page, service)
    _load(page, _scenario())
    _choose(page, "hero", "certified")
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.click("#share")
    until(lambda: "#view=" in page.evaluate("location.href"))
    other = browser.new_page()
    other.goto(page.evaluate("location.href"))
    until(lambda: bool(other.evaluate("Boolean(window.reknit?.scenario)")))
    assert other.evaluate("reknit.scenario") == page.evaluate("reknit.scenario")
    chosen = "[...document.querySelectorAll('#planners input:checked')].map((box) => box.value)"
    assert other.evaluate(chosen) == ["hero", "certified"]
    other.close()


def test_what_can_be_taken_away(page: Page, service: Running, tmp_path: Path) -> None:
    """PNG, SVG, scenario and plan are files that open; the shell command is a real one."""
    _open(page, service)
    _load(page, _scenario())
    _choose(page, "certified", "hero")
    page.click("#mend-now")
    _mended(page, 2)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    files = {}
    for name in ("png", "svg", "scenario", "plan"):
        with page.expect_download() as waiting:
            page.click(f"#save-{name}")
        files[name] = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(files[name])
    with Image.open(files["png"]) as picture:
        assert picture.size[0] > 600
    assert files["svg"].read_text().startswith("<svg")
    scenario = reknit.load_scenario(files["scenario"])
    assert scenario == _scenario()
    reknit.Plan.load(files["plan"]).verify(scenario)
    page.click("#show-commands")
    assert "--planners hero,certified" in page.inner_text("#shell")


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("bad.json", "{", "no JSON"),
        ("bad.json", '{"positions_m": [[0, "x"]]}', "positions_m[0]"),
        ("bad.csv", "a,b\n1,2\n", "uav_id,x_m,y_m"),
        ("bad.txt", "hello", "must end in"),
        ("bad.json", '{"positions_m": [[0, 0]], "destroyed": [5]}', "destroyed holds 5"),
    ],
)
def test_a_bad_file_is_answered_and_changes_nothing(
    page: Page, service: Running, name: str, text: str, answer: str
) -> None:
    """A file that is none gets one clear sentence; the swarm stays as it was."""
    _open(page, service)
    before = page.evaluate("reknit.scenario")
    _drop(page, name, text)
    until(lambda: answer in page.inner_text("#status"))
    assert page.evaluate("reknit.scenario") == before


def test_hostile_names_are_only_text(page: Page, service: Running, tmp_path: Path) -> None:
    """Markup in names of UAVs, files and planners is shown, never run; also in a run's page."""
    _open(page, service)
    case = scenario_file(_scenario()).model_dump(mode="json")
    case["names"] = [f"{HOSTILE}{number}" for number in range(6)]
    _drop(page, f"{HOSTILE.replace('/', '')}.json", json.dumps(case))
    until(lambda: "Opened" in page.inner_text("#status"))
    page.fill("#own-planner", HOSTILE)
    _choose(page, "certified")
    page.click("#mend-now")
    _mended(page, 2)
    page.hover(".panel canvas")
    assert HOSTILE in page.locator(".panel").nth(1).inner_text()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "reknit studio"
    named = reknit.Scenario(_scenario().positions, [3], radio_range_m=120.0, names=case["names"])
    path = write_player(reknit.recover(named, "certified"), tmp_path)
    page.goto(path.as_uri())
    until(lambda: "optimal" in page.inner_text("body"))
    assert HOSTILE in page.inner_text("#status")
    assert page.locator("img").count() == 0
    assert page.title() == "reknit: certified"


def test_a_run_folder_plays_without_a_service(page: Page, tmp_path: Path) -> None:
    """The page of a run draws the swarm from its own data and asks nobody."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    path = write_player(reknit.recover(_scenario(), "certified"), tmp_path)
    page.goto(path.as_uri())
    until(lambda: page.locator(".panel").count() == 1)
    page.focus("#time")

    def is_at_the_beginning() -> bool:
        # The flight plays when the page opens; once it has ended, the beginning stays.
        page.keyboard.press("Home")
        return page.inner_text(".clock") == "0.00 s"

    until(is_at_the_beginning)
    colours = _pixels(page).reshape(-1, 3)
    for wanted in (BLUE, ORANGE):
        assert (np.abs(colours - np.asarray(wanted)).max(axis=1) < 24).sum() > 40
    assert asked == [path.as_uri()]


def test_by_keyboard_alone(page: Page, service: Running) -> None:
    """Generate, strike, mend, play and step without a pointer."""
    _open(page, service)
    before = page.evaluate("reknit.scenario.destroyed.length")
    page.focus(".panel canvas")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert abs(page.evaluate("reknit.scenario.destroyed.length") - before) == 1
    page.keyboard.press("Control+z")
    assert page.evaluate("reknit.scenario.destroyed.length") == before
    _choose(page, "certified", "contraction")
    page.keyboard.press("m")
    _mended(page, 2)
    page.evaluate("reknit.stage.playing = false")
    page.evaluate("reknit.stage.setTime(0)")
    page.keyboard.press(".")
    _settle(page)
    assert page.inner_text(".clock") == "0.10 s"
    page.keyboard.press("k")
    until(lambda: page.evaluate("reknit.stage.time") > 0.2)
    reached = set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"generate", "mend", "mend-now", "show-swarm", "play", "time", "speed"} <= reached


def test_demands_make_their_own_form(page: Page, service: Running) -> None:
    """Every demand that scenarios declare has a control, and what is typed reaches the plan."""
    from reknit.swarm.demands import demand_fields

    _open(page, service)
    _load(page, _scenario())
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for name in demand_fields():
        assert page.locator(f"#field-{name}").count() == 1, name
    page.fill("#demands #field-link_margin", "0.25")
    page.fill("#demands #field-anchors", "0, 1")
    page.click("#apply-demands")
    _choose(page, "certified")
    page.click("#mend")
    _mended(page, 1)
    want = reknit.Scenario(
        _scenario().positions, [3], radio_range_m=120.0, link_margin=0.25, anchors=[0, 1]
    )
    planned = page.evaluate("reknit.runs[0].recovery.plan.recovery_time_s")
    assert planned == reknit.plan(want, "certified").recovery_time_s


def test_why_shows_what_python_counts(page: Page, service: Running) -> None:
    """Critical UAVs and the pairs of ML-DAGL's branches are those that the package finds."""
    scenario = reknit.generate(90, 0.4, seed=6)
    _open(page, service)
    _load(page, scenario)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    page.fill("#branch", "2")
    near = hops_within(adjacency(scenario.links, scenario.uavs), 2)
    pairs = near[scenario.survivors][:, scenario.destroyed].nnz
    until(lambda: f"joins {pairs} pairs" in page.inner_text("#branch-text"))
    found = page.evaluate(
        """async () => {
            const { cutNodes, findLinks } = await import('/studio/network.js');
            const { points, dim, range } = reknit.stage.panels[0].picture;
            return cutNodes(points.length / dim, findLinks(points, dim, range));
        }"""
    )
    links = radio_links(scenario.survivor_positions, scenario.radio_range_m)
    cut, _ = cut_nodes_and_bridges(links, len(scenario.survivors))
    assert found == sorted(cut.tolist())


def test_learning_is_seen_while_it_happens(page: Page, service: Running) -> None:
    """What a planner reports while it works is read as its best plan so far, iteration by
    iteration.
    """
    told: list[dict[str, str]] = []
    scenario = reknit.generate(40, 0.5, seed=3, split=True)
    reknit.plan(scenario, "ml-dagl", progress=lambda _, text: told.append({"message": text}))
    _open(page, service)
    values = page.evaluate(
        "async (told) => (await import('/studio/chart.js')).liveValues(told)", told
    )
    best = values["best"]
    assert len(best) > 5
    assert best == sorted(best, reverse=True)


def test_three_dimensions_turn(page: Page, service: Running) -> None:
    """A swarm in space is drawn, and dragging with the hand turns it."""
    _open(page, service)
    _load(page, reknit.generate(60, 0.4, seed=1, dim=3))
    page.click("[data-tool=pan]")
    before = _pixels(page)
    box = page.locator(".panel canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 320, box["y"] + 240, steps=4)
    page.mouse.up()
    after = _pixels(page)
    blue = [(np.abs(x - np.asarray(BLUE)).max(axis=2) < 24).sum() for x in (before, after)]
    assert min(blue) > 200
    assert (np.abs(before - after).max(axis=2) > 24).sum() > 1000


def test_the_page_survives_a_restart(page: Page) -> None:
    """While the service is away the page keeps its swarm and says so; then it goes on."""
    with running("--workers", "1") as first:
        _open(page, first)
        port = first.url.rstrip("/").rpartition(":")[2]
    before = page.evaluate("reknit.scenario")
    page.click("#generate")
    until(lambda: "does not answer" in page.inner_text("#status"))
    with running("--workers", "1", "--port", port):
        until(lambda: "is back" in page.inner_text("#status"))
        assert page.evaluate("reknit.scenario") == before
        page.click("#generate")
        until(lambda: "Generated" in page.inner_text("#status"))


@pytest.mark.skipif(
    not AXE.exists() and not IS_CI, reason="axe-core is not installed: run `bash tests/check_page`"
)
@pytest.mark.parametrize("theme", ["dark", "light"])
def test_accessibility(page: Page, service: Running, theme: str) -> None:
    """axe-core has no serious finding, before and after mending, in both themes."""
    page.emulate_media(color_scheme="light" if theme == "light" else "dark")
    _open(page, service)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    _choose(page, "certified", "contraction")
    for step in ("made", "mended"):
        if step == "mended":
            page.click("#mend-now")
            _mended(page, 2)
        page.evaluate(AXE.read_text())
        found = page.evaluate("axe.run()")
        serious = [
            (rule["id"], [node["target"] for node in rule["nodes"]])
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert not serious, (step, serious)
