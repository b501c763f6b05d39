"""Work that its caller can leave at any moment, and memory that is kept between iterations.

One forward pass of a large net takes longer than a caller who cancels wants to wait, and
cannot be stopped in the middle. So where there is a limit the work runs on a thread of its own:
when the limit is reached the caller goes on with what there is, and the work ends by itself at
its next look at the context. Torch's number of threads is never touched: it belongs to the
process, in which other plans may be running.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

import torch

from reknit.base.budget import Budget
from reknit.base.context import Context, never

_LOOK_EVERY_S = 0.005
THREAD_NAME = "reknit-planner"
_News = SimpleQueue[tuple[float, str] | tuple[()] | BaseException | None]
"""Progress made, or what ended the work: an error, or None when it is done."""


def run_until_over(work: Callable[[Context], None], context: Context) -> bool:
    """Do the work, or as much of it as the context allows.

    Parameters
    ----------
    work
        Given a context, it looks at ``context.is_over`` now and then and ends when it is true.
        What it has found must be safe to read while it is still at work.
    context
        Whose budget and cancel limit it. The progress is told on the caller's thread.

    Returns
    -------
    bool
        Whether the work is done; otherwise the limit was reached first.
    """
    if context.budget.seconds is None and context.cancel is never:
        work(context)
        return True
    left = threading.Event()
    news: _News = SimpleQueue()
    inner = context.with_changes(
        budget=Budget(),
        cancel=left.is_set,
        progress=lambda fraction, message: news.put((fraction, message)),
    )

    def run() -> None:
        try:
            work(inner)
        except BaseException as error:
            news.put(error)
        else:
            news.put(None)

    if context.is_over:
        return False
    threading.Thread(target=run, name=THREAD_NAME).start()
    try:
        return _wait(news, context)
    finally:
        left.set()


def _wait(news: _News, context: Context) -> bool:
    """Pass news on until the work is done or the context is over."""
    while True:
        try:
            item = news.get(timeout=_LOOK_EVERY_S)
        except Empty:
            item = ()
        if item is None:
            return True
        if isinstance(item, BaseException):
            raise item
        if item:
            context.progress(*item)
        if context.is_over:
            return False


def keep_freed_memory() -> None:
    """Have the allocator keep what is freed, since the next iteration asks for the same again.

    glibc gives large blocks back to the system at once, until a larger one has been freed; then
    it takes that size for usual. Memory that nobody writes to costs nothing.
    """
    block = torch.empty(31 * 2**20, dtype=torch.uint8)
    del block
