"""The net of the preset "default": survivors pull each other along possible links."""
