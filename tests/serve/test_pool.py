"""Worker processes of the service."""

from __future__ import annotations

import asyncio
import sys

from reknit.serve.pool import WorkerProcess

LOUD = "import sys, time; sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); time.sleep(600)"


def test_a_worker_that_nobody_listens_to_can_be_ended() -> None:
    """What it has written and nobody read does not keep its end from being seen."""

    async def end() -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", LOUD, stdin=pipe, stdout=pipe
        )
        await asyncio.sleep(1.0)  # more has been written than is buffered here
        async with asyncio.timeout(30.0):
            await WorkerProcess(process).kill()
        assert process.returncode == -9

    asyncio.run(end())
