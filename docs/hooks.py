"""Hooks of the site's build, named in mkdocs.yml."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig


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
