"""The conformance tests every planner must pass, for third parties too."""
