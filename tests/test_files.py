"""Failed writes: one line that says what can't be written, and where else it may go."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from harness.errors import StorageError
from harness.files import atomic_write
from harness.state import State


def test_a_place_that_holds_no_files_is_named_with_what_can_be_chosen() -> None:
    for write in (partial(atomic_write, Path("/proc/x"), b""), State(Path("/proc/x")).prepare):
        with pytest.raises(StorageError) as caught:
            write()
        assert str(caught.value).startswith("/proc/x: can't be made or written here: ")
        assert "TRIALBOX_HOME" in caught.value.remedy
        assert "XDG_CACHE_HOME" in caught.value.remedy
