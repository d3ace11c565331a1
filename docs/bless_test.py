#!/usr/bin/env python3
"""Tests of bless.py."""

from bless import blessed

CASES = [
    # Nothing changes.
    ("a 1\nb 2\n", "a 1\nb 2\n", "a 1\nb 2\n"),
    # A figure; a figure beside one that is left out.
    ("cycles 4097\n", "cycles 4099\n", "cycles 4099\n"),
    ("cycles …, memories 3\n", "cycles 4099, memories 4\n", "cycles …, memories 4\n"),
    # Lines that are left out stay so.
    ("first 1\n…\nlast 9\n", "first 2\nx\ny\nlast 9\n", "first 2\n…\nlast 9\n"),
    ("…\nlast 9\n", "x\nlast 9\n", "…\nlast 9\n"),
    ("first 1\n…\n", "first 1\nx\ny\n", "first 1\n…\n"),
    ("first 1\n…\nsame\n", "first 1\nsame\n", "first 1\n…\nsame\n"),
    # Lines come and go.
    ("a 1\nc 3\n", "a 1\nsomething else\nc 3\n", "a 1\nsomething else\nc 3\n"),
    ("a 1\nsomething else\nc 3\n", "a 1\nc 3\n", "a 1\nc 3\n"),
    ("", "new\n", "new\n"),
    ("old\n", "", ""),
    # A line within those that are left out, in another form.
    ("…\n  memory tiles 3 of `amber`\n…\n", "x\n  memory tiles 4 of `amber`\ny\n", "…\n  memory tiles 4 of `amber`\n…\n"),
]

for expected, got, wanted in CASES:
    shown = blessed(expected, got)
    assert shown == wanted, f"{expected!r} became {shown!r}, not {wanted!r}"
    assert blessed(shown, got) == shown, f"{shown!r} is not as it should be"
