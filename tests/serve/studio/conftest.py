"""A browser for all, and a page of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.serve.studio.browser import CHROMIUM, IS_CI


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None and not IS_CI:
        pytest.skip("chromium is not installed")
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
