"""Broken documents: those of CPython's own tests, some of other programs, and drawn ones."""

from __future__ import annotations

import gzip
from functools import cache
from importlib import import_module, resources

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from reknit.base.types import JsonDict

_OF_ANY_KIND = (
    *(b"", b"\n", b"\0", b" " * 4096, b"\xff\xfe", b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf{}"),
    *(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"PK\x03\x04\x14\0", b"\x7fELF\x02\x01\x01", b"%PDF-1.7\n"),
    *(b"<html><body>404</body></html>", b"<?xml version='1.0'?><a/>", b"\x80abc", b"\xc3("),
    *(b"\xed\xa0\x80", b"caf\xe9", "{}".encode("utf-16"), "x,y\n1,2\n".encode("utf-32")),
    *(gzip.compress(b"{}", mtime=0), gzip.compress(b"{}", mtime=0)[:-5], b"\x1f\x8b\x08\0garbage"),
    *(b"<<<<<<< HEAD\n{}\n=======\n[]\n>>>>>>> other\n", b"- yaml: 1\n  more: [1, 2]\n", b"\x1a"),
    *(b"[" * 100_000, b'{"a":' * 20_000, b"9" * 100_000, b'"' + b"x" * 200_000, b"a = " * 5_000),
)

_CSV = (
    *("uav_id,x_m,y_m,alive\n", "uav_id,x_m,y_m,alive\n0,1,2", "uav_id;x_m;y_m;alive\n0;1;2;1\n"),
    *("uav_id\tx_m\ty_m\talive\n0\t1\t2\t1\n", "UAV_ID,X_M,Y_M,ALIVE\n0,1,2,1\n", "0,1,2,1\n"),
    *("uav_id,x_m,y_m,alive\n0,1,2,1,\n", "uav_id,x_m,y_m,alive\n0,1,2\n", "x_m,y_m\n1,2\n"),
    *('uav_id,x_m,y_m,alive\n"0,1,2,1\n', 'uav_id,x_m,y_m,alive\n"0"x,1,2,1\n', "#,a\nuav_id\n"),
    *("uav_id,x_m,y_m,alive\n0,1,000,2,1\n", "uav_id,x_m,y_m,alive\n0,1 000,2,1\n", ",,,\n,,,\n"),
    *("uav_id,x_m,y_m,alive\r0,1,2,1\r", "sep=,\nuav_id,x_m,y_m,alive\n0,1,2,1\n", "uav_id\n"),
    *("uav_id,x_m,y_m,alive\n0,#REF!,2,1\n", "uav_id,x_m,y_m,alive\n0,#DIV/0!,2,1\n", "a,b,c,d\n"),
    *("uav_id,x_m,y_m,alive\n0,1e400,2,1\n", "uav_id,x_m,y_m,alive\n0,\u0661,2,1\n0,1,2,1\n"),
    *("uav_id,x_m,y_m,alive\n0,1,2,yes\n", "uav_id,x_m,y_m,alive\n0,1,2,-1\n", '"""\n'),
    *("uav_id,x_m,y_m,alive\n=cmd(),1,2,1\n", "uav_id,x_m,x_m,alive\n0,1,2,1\n", "uav_id,,,\n"),
    *(
        "uav_id,x_m,y_m,alive\n0,0x10,2,1\n",
        "uav_id,x_m,y_m,alive\n\n\n\n",
        "uav_id,x_m,y_m\n0,1,2\n",
    ),
)


@cache
def documents(ending: str) -> tuple[bytes, ...]:
    """Documents that are broken as .json, .csv or .toml, or are no text at all.

    JSON and TOML are those by which CPython tests its own readers, where its tests are installed.
    """
    own = [text.encode() for text in _CSV] if ending == ".csv" else []
    return (*_OF_ANY_KIND, *own, *_of_cpython(ending))


def _of_cpython(ending: str) -> list[bytes]:
    try:
        if ending == ".json":
            module = import_module("test.test_json.test_fail")
            return [text.encode() for text in module.JSONDOCS]
        if ending == ".toml":
            folder = resources.files("test.test_tomllib") / "data" / "invalid"
            found = []
            for item in folder.iterdir():
                inside = item.iterdir() if item.is_dir() else [item]
                found += [leaf for leaf in inside if leaf.name.endswith(".toml")]
            return [leaf.read_bytes() for leaf in sorted(found, key=lambda leaf: str(leaf))]
    except (ImportError, OSError):
        pass
    return []


_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 12),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["0", "1e3", "nan", "uav", "certified", "optimal", "reknit-scenario"]),
)


def _values(keys: SearchStrategy[str]) -> SearchStrategy[JsonDict]:
    """Nested values with keys that a file of this kind has, or nearly has."""
    inner = st.recursive(
        _LEAVES,
        lambda deeper: st.one_of(
            st.lists(deeper, max_size=4), st.dictionaries(keys, deeper, max_size=4)
        ),
        max_leaves=12,
    )
    return st.dictionaries(keys, inner, max_size=6)


def drawn(good: JsonDict, number: int, draw_seed: int) -> list[JsonDict]:
    """Values like `good` in their keys only, drawn by hypothesis.

    Parameters
    ----------
    good
        A document that is in order; what is drawn replaces some of it or all.
    number
        How many.
    draw_seed
        The same seed draws the same values, with the same version of hypothesis.
    """
    keys = st.one_of(st.sampled_from([*good, *good, "", "extra", "name"]), st.text(max_size=5))
    values: list[JsonDict] = []

    @seed(draw_seed)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(_values(keys), st.booleans())
    def collect(value: JsonDict, replaces: bool) -> None:
        values.append({**good, **value} if replaces else value)

    collect()
    return values[:number]


_CELLS = st.one_of(
    st.text(max_size=6),
    st.floats().map(str),
    st.integers(-5, 40).map(str),
    st.sampled_from(["", '"', "true", "0", "1", "1e999", "#N/A", "1,5", "\n", "nan", "-inf"]),
)


def drawn_tables(header: str, number: int, draw_seed: int) -> list[str]:
    """Texts of comma-separated values with a good header, and cells drawn by hypothesis."""
    texts: list[str] = []
    width = header.count(",") + 1
    rows = st.lists(st.lists(_CELLS, min_size=width - 1, max_size=width + 1), max_size=6)

    @seed(draw_seed)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(rows)
    def collect(cells: list[list[str]]) -> None:
        texts.append("\n".join([header, *(",".join(row) for row in cells)]) + "\n")

    collect()
    return texts[:number]
