"""The HTTP service, its jobs and worker processes, the client, and the page (studio)."""
