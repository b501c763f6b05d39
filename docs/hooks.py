"""Hooks of the site's build, named in mkdocs.yml."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig

from reknit.flight.metrics import Metrics
from reknit.study.measures import documented

_FIELDS = "<!-- fields of Metrics -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave out the script that the offline plugin has every page fetch from another host.

    It lets browsers search in pages that are opened from the disk. Pages from a server need it
    not, and without a network it could not be fetched.

    Parameters
    ----------
    config
        Of the site, as the plugins have set it.

    Returns
    -------
    MkDocsConfig
        The same, changed in place.
    """
    scripts = config.extra.get("polyfills", [])
    config.extra["polyfills"] = [script for script in scripts if "://" not in script]
    return config


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the fields of `Metrics` where the reference speaks of it, from their declarations.

    Parameters
    ----------
    markdown
        The text of a page.

    Returns
    -------
    str
        The text with the table.
    """
    return markdown.replace(_FIELDS, documented(Metrics.__dataclass_fields__))
