"""Bad files, hostile names, a service that goes away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page

import reknit
from reknit.serve.studio import write_player
from reknit.swarm.files import scenario_file
from tests.serve.running import Running, running, until
from tests.serve.studio.browser import (
    choose,
    choose_file,
    load,
    mended,
    open_studio,
    two_groups,
)

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">"


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
    open_studio(page, service)
    before = page.evaluate("reknit.scenario")
    choose_file(page, name, text)
    until(lambda: answer in page.inner_text("#status"))
    assert page.evaluate("reknit.scenario") == before


def test_hostile_names_are_only_text(page: Page, service: Running, tmp_path: Path) -> None:
    """Markup in names of UAVs, files and planners is shown, never run; also in a run's page."""
    open_studio(page, service)
    case = scenario_file(two_groups()).model_dump(mode="json")
    case["names"] = [f"{HOSTILE}{number}" for number in range(6)]
    choose_file(page, f"{HOSTILE.replace('/', '')}.json", json.dumps(case))
    until(lambda: "Opened" in page.inner_text("#status"))
    page.fill("#own-planner", HOSTILE)
    choose(page, "certified")
    page.click("#mend-now")
    mended(page, 2)
    page.hover(".panel canvas")
    assert HOSTILE in page.locator(".panel").nth(1).inner_text()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == "reknit studio"
    named = reknit.Scenario(two_groups().positions, [3], radio_range_m=120.0, names=case["names"])
    path = write_player(reknit.recover(named, "certified"), tmp_path)
    page.goto(path.as_uri())
    until(lambda: "optimal" in page.inner_text("body"))
    assert HOSTILE in page.inner_text("#status")
    assert page.locator("img").count() == 0
    assert page.title() == "reknit: certified"


def test_the_page_survives_a_restart(page: Page) -> None:
    """While the service is away the page keeps its swarm and says so; then it goes on."""
    with running("--workers", "1") as first:
        open_studio(page, first)
        port = first.url.rstrip("/").rpartition(":")[2]
    before = page.evaluate("reknit.scenario")
    page.click("#generate")
    until(lambda: "does not answer" in page.inner_text("#status"))
    with running("--workers", "1", "--port", port):
        until(lambda: "is back" in page.inner_text("#status"))
        assert page.evaluate("reknit.scenario") == before
        page.click("#generate")
        until(lambda: "Generated" in page.inner_text("#status"))


def test_a_closed_page_frees_its_workers(page: Page, service: Running) -> None:
    """Whoever leaves in the midst of mending leaves no job behind."""
    open_studio(page, service)
    load(page, reknit.generate(3_000, 0.95, seed=2))
    choose(page, "certified")
    page.click("#mend-now")
    with service.http() as http:
        until(lambda: http.get("/v1/health").json()["busy"] == 1)
        page.goto("about:blank")
        until(lambda: http.get("/v1/health").json()["busy"] == 0, 5.0)
