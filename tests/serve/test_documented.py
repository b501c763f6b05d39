"""The requests that docs/service.md shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from tests.serve.running import Running

PAGE = Path(__file__).parents[2] / "docs/service.md"


def test_the_request_by_curl_is_answered(service: Running) -> None:
    """As it stands there, but for the port: a plan comes back, as the page says."""
    command = re.search(r"^    (curl .*\\\n.*)$", PAGE.read_text(), re.MULTILINE)
    assert command is not None
    words = command[1].replace("http://127.0.0.1:8321", service.url.rstrip("/"))
    assert service.url.rstrip("/") in words
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    assert "plan" in answer, answer
    assert answer["plan"]["status"] == "optimal"
    assert answer["provenance"]["planner"] == "certified"
