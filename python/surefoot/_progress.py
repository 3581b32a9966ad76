"""What is shown while a run goes on."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Union

from ._errors import MissingLibraryError, UsageError, require

Callback = Callable[[str], object]


@contextmanager
def callback(progress: Union[None, bool, Callback]) -> Iterator[Optional[Callback]]:
    """The function that is told about progress. By default that is a line of tqdm, if tqdm is installed and somebody sees it."""
    if progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is None or progress is True:
        bar = _bar(wanted=progress is True)
        if bar is None:
            yield None
            return
        try:
            yield lambda line: bar.set_description_str(line)
        finally:
            bar.close()
    else:
        raise UsageError(f"`progress` is {progress!r}, but must be a function, True, False or None")


def _bar(wanted: bool):
    """A line of tqdm; ``None`` if it is not asked for and nobody would see it, or tqdm is not installed."""
    if not wanted and not _is_seen():
        return None
    try:
        tqdm = require("tqdm.auto", "`progress=True`", "tqdm").tqdm
    except MissingLibraryError:
        if wanted:
            raise
        return None
    return tqdm(bar_format="{desc}", leave=False)


def _is_seen() -> bool:
    if "ipykernel" in sys.modules:
        return True
    return sys.stderr is not None and sys.stderr.isatty()
