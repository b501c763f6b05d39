"""What the endpoints answer, right and wrong."""

from __future__ import annotations

import json
import socket
from typing import Any

import httpx
import jsonschema_rs
import numpy as np
import pytest

import reknit
from reknit.plans.files import PlanFile, plan_file, plan_of
from reknit.serve.guard import CONTENT_POLICY
from reknit.serve.models import GenerationRequest
from reknit.swarm.files import ScenarioFile, scenario_of
from tests.serve.running import Running, body_of


@pytest.fixture(scope="module")
def scenario() -> reknit.Scenario:
    return reknit.generate(60, 0.5, seed=3, split=True)


def test_a_plan_over_http_is_the_plan_in_process(
    http: httpx.Client, scenario: reknit.Scenario
) -> None:
    """The same seed gives the same targets and bound, bit for bit, through the service."""
    answer = http.post("/v1/plans", json=body_of(scenario, planner="certified", seed=5))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    parts = answer.json()
    plan = plan_of(PlanFile.model_validate_json(json.dumps(parts["plan"])))
    own = reknit.plan(scenario, "certified", seed=5)
    assert parts["provenance"]["planner"] == "certified"
    assert parts["provenance"]["seed"] == 5
    assert parts["provenance"]["details"] == own.details
    assert np.array_equal(plan.targets, own.targets)
    assert plan.lower_bound_s == own.lower_bound_s
    plan.verify(scenario)


def test_a_recovery_is_flown_and_thinned(http: httpx.Client, scenario: reknit.Scenario) -> None:
    """The flight keeps its first and last instants; steering planners have no plan."""
    answer = http.post("/v1/recoveries", json=body_of(scenario, planner="sidr", frames=5)).json()
    run = reknit.recover(scenario, "sidr")
    assert answer["plan"] is None
    flight = answer["flight"]
    assert len(flight["times_s"]) == len(flight["positions_m"]) == 5
    assert np.array_equal(flight["positions_m"][0], run.flight.positions[0])
    assert np.array_equal(flight["positions_m"][-1], run.flight.positions[-1])
    assert flight["reconnected_at_s"] == run.flight.reconnected_at_s
    assert answer["metrics"]["mean_degree"] == run.metrics.mean_degree


def test_a_comparison_keeps_the_row_of_one_that_fails(
    http: httpx.Client, scenario: reknit.Scenario
) -> None:
    """A planner that does not exist loses its own row, not the others'."""
    names = ["contraction", "no-such-planner", "certified"]
    answer = http.post("/v1/comparisons", json=body_of(scenario, planners=names, frames=2)).json()
    rows = answer["rows"]
    assert [row["planner"] for row in rows] == names
    assert rows[1]["recovery"] is None
    assert rows[1]["problem"]["value"] == "'no-such-planner'"
    best_s = rows[2]["recovery"]["plan"]["recovery_time_s"]
    assert answer["lower_bound_s"] <= best_s <= rows[0]["recovery"]["plan"]["recovery_time_s"]


def test_bound_and_generation(http: httpx.Client) -> None:
    """A generated scenario is the one of `reknit.generate`, and its bound is the same too."""
    made = http.post("/v1/scenarios", json={"uavs": 40, "destroyed": 20, "seed": 9}).content
    scenario = scenario_of(ScenarioFile.model_validate_json(made))
    own = reknit.generate(40, 20, seed=9)
    assert scenario == own
    answer = http.post("/v1/bounds", json=body_of(scenario)).json()
    assert answer["bound_s"] == answer["certificate"]["bound_s"] == reknit.lower_bound(own).bound_s


def test_the_defaults_of_a_generated_swarm_may_be_sent() -> None:
    """What the description calls a default is accepted when it is sent, and means the same."""
    properties = GenerationRequest.model_json_schema()["properties"]
    defaults = {name: field["default"] for name, field in properties.items()}
    assert GenerationRequest.model_validate(defaults) == GenerationRequest.model_validate({})
    assert defaults["radio_range_m"] == reknit.generate().radio_range_m


def test_verification_tells_truth_from_lie(http: httpx.Client, scenario: reknit.Scenario) -> None:
    """A real plan is valid; with one target moved its time is a lie."""
    real = plan_file(reknit.plan(scenario, "certified")).model_dump(mode="json")
    answer = http.post("/v1/verifications", json=body_of(scenario, plan=real)).json()
    assert answer == {"valid": True, "reason": None}
    real["targets_m"][0][0] += 1000.0
    answer = http.post("/v1/verifications", json=body_of(scenario, plan=real)).json()
    assert answer["valid"] is False
    assert answer["reason"]


@pytest.mark.parametrize(
    ("path", "change", "status", "field"),
    [
        ("plans", {"scenario": {"positions_m": [[0, 0]], "radio_range_m": -1}}, 422, "radio_range"),
        ("plans", {"scenario": {"positions_m": [[0, "x"]]}}, 422, "scenario.positions_m.0.1"),
        ("plans", {"scenario": {"positions_m": [[0, 0]], "destroyed": [7]}}, 422, "destroyed"),
        ("plans", {"planner": "certifed"}, 422, "planner"),
        ("plans", {"seed": -1}, 422, "seed"),
        ("plans", {"colour": "red"}, 422, "colour"),
        ("plans", {"parameters": {"nothing": 1}}, 422, "certified.nothing"),
        ("plans", {"parameters": {"progress": 1}}, 422, "certified.progress"),
        ("recoveries", {"frames": 1}, 422, "frames"),
        ("scenarios", {"uavs": 4001}, 413, "uavs"),
        ("plans", {"scenario": {"positions_m": [[0, 0]] * 4001}}, 413, "scenario.positions_m"),
    ],
)
def test_what_is_wrong_is_named(
    http: httpx.Client, path: str, change: dict[str, Any], status: int, field: str
) -> None:
    """Wrong input is a problem with the field, the value and what is allowed."""
    body = change
    if path != "scenarios":
        body = {"scenario": {"positions_m": [[0, 0], [300, 0]]}, **change}
    answer = http.post(f"/v1/{path}", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == status
    assert problem["field"].startswith(field)
    assert problem["allowed"]
    assert problem["value"]


def test_no_file_of_the_server_can_be_named(http: httpx.Client) -> None:
    """A parameter that takes a path in process takes only names here."""
    body = {
        "scenario": {"positions_m": [[0, 0], [300, 0]]},
        "planner": "cr-mgc",
        "parameters": {"weights": "/etc/passwd"},
    }
    answer = http.post("/v1/plans", json=body)
    assert answer.status_code == 422
    assert "files cannot be named" in answer.json()["detail"]


def test_bodies_that_are_no_bodies(http: httpx.Client) -> None:
    """No JSON is 400, another media type 415, a body beyond the limit 413, a wrong method 405."""
    kind = {"content-type": "application/json"}
    assert http.post("/v1/plans", content=b"{", headers=kind).status_code == 400
    assert http.post("/v1/plans", content=b"\xff\xfe", headers=kind).status_code == 400
    assert http.post("/v1/plans", content=b"{}").status_code == 415
    deep = b'{"scenario":' + b"[" * 100_000
    assert http.post("/v1/plans", content=deep, headers=kind).status_code == 400
    large = b" " * (17 * 2**20)
    assert http.post("/v1/plans", content=large, headers=kind).status_code == 413
    assert http.post("/v1/plans", content=iter([large]), headers=kind).status_code == 413
    assert http.get("/v1/plans").status_code == 405
    assert http.get("/v1/nothing").status_code == 404
    assert http.get("/v1/jobs/nothing").json()["type"] == "urn:reknit:NoSuchJob"


def test_headers_protect_every_answer(http: httpx.Client) -> None:
    """Pages, data and errors alike carry the content policy; nothing is opened to other origins."""
    for path in ("/", "/v1/health", "/v1/nothing"):
        headers = http.get(path).headers
        assert headers["content-security-policy"] == CONTENT_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert "unsafe" not in CONTENT_POLICY


def test_other_pages_and_names_are_refused(http: httpx.Client) -> None:
    """A page of another origin, or a foreign name that resolves here, gets nothing."""
    assert http.get("/v1/health", headers={"origin": "https://example.org"}).status_code == 403
    assert http.get("/v1/health", headers={"host": "example.org"}).status_code == 421
    own = str(http.base_url).rstrip("/")
    assert http.get("/v1/health", headers={"origin": own}).status_code == 200


def test_the_page_cannot_be_left_by_dots(service: Running) -> None:
    """No path leads out of the page's folder."""
    host, port = service.url.removeprefix("http://").rstrip("/").split(":")
    for path in (
        "/studio/../../app.py",
        "/studio/%2e%2e/%2e%2e/app.py",
        "/studio/..%2fx",
        "//etc/passwd",
    ):
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(
                f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
            )
            answer = b""
            while part := raw.recv(65536):
                answer += part
        assert answer.split(b" ", 2)[1] == b"404", path


def test_the_description_is_whole(http: httpx.Client) -> None:
    """Every reference resolves, and every example of a request is accepted."""
    text = http.get("/v1/openapi.json").text
    document = json.loads(text)
    parts = document["components"]["schemas"]
    for piece in text.split('"#/components/schemas/')[1:]:
        assert piece.split('"')[0] in parts
    for path, methods in document["paths"].items():
        if "post" in methods:
            body = methods["post"]["requestBody"]["content"]["application/json"]["example"]
            assert http.post(path, json=body).status_code == 200, path


def test_every_answer_has_an_example_of_its_kind(http: httpx.Client) -> None:
    """Whatever an operation may answer is shown by an example that fits its own schema."""
    document = http.get("/v1/openapi.json").json()
    parts = document["components"]["schemas"]
    shown = 0
    for path, methods in document["paths"].items():
        for described in methods.values():
            for status, answer in described["responses"].items():
                for content in answer["content"].values():
                    schema = content["schema"]
                    own = parts.get(schema.get("$ref", "").rpartition("/")[2], {})
                    example = content.get("example") or own["examples"][0]
                    whole = {**schema, "components": document["components"]}
                    jsonschema_rs.Draft202012Validator(whole).validate(example)
                    if status == "429":
                        assert answer["headers"]["Retry-After"]["required"], path
                    shown += 1
    assert shown > 100


def test_planners_and_metrics(http: httpx.Client) -> None:
    """The list is the registry's, and the counters count."""
    listed = {row["name"] for row in http.get("/v1/planners").json()["planners"]}
    assert listed == set(reknit.planners())
    http.get("/v1/health")
    text = http.get("/v1/metrics").text
    assert 'reknit_requests_total{method="GET",route="/v1/health",status="200"}' in text
    assert "reknit_workers 2\n" in text
