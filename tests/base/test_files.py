"""Files are written whole or not at all, under names that a file may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from reknit.base.errors import UnreadableFile, UnwritableOutput
from reknit.base.files import output_folder, read_bytes, write_text


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_has_is_a_typed_error(tmp_path: Path, name: str) -> None:
    """Python's own error about such characters is none of the system's, and is told as one."""
    for write in (lambda path: write_text(path, "x"), output_folder):
        with pytest.raises(UnwritableOutput):
            write(tmp_path / name)
    with pytest.raises(UnreadableFile):
        read_bytes(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
