"""New outputs in the place of those that a page shows of a command. Text that `…` stands for stays `…`."""

import difflib
import re

ELLIPSIS = "…"

# Lines that have so much in common are a line and what became of it.
SIMILAR = 0.6


def is_line(expected: str, got: str) -> bool:
    """Whether a line is the expected one, in which `…` stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, expected.split(ELLIPSIS))), got) is not None


def blessed(expected: str, got: str) -> str:
    """The output of a command as the page should show it: what is got, with `…` where the page had it."""
    old, new = expected.splitlines(), got.splitlines()
    shown: list[str] = []
    first_old = first_new = 0
    for old_line, new_line in [*common_lines(old, new), (len(old), len(new))]:
        shown += gap(old[first_old:old_line], new[first_new:new_line])
        shown += old[old_line:old_line + 1]
        first_old, first_new = old_line + 1, new_line + 1
    return "".join(f"{line}\n" for line in shown)


def common_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """The most pairs of lines, in order, of which the new is the old one."""
    most = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]

    def same(i: int, j: int) -> bool:
        return old[i].strip() != ELLIPSIS and is_line(old[i], new[j])

    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            most[i][j] = 1 + most[i + 1][j + 1] if same(i, j) else max(most[i + 1][j], most[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if same(i, j):
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif most[i + 1][j] >= most[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def gap(old: list[str], new: list[str]) -> list[str]:
    """The lines in the place of others: all new ones, or where lines were left out, those that were there in another form."""
    is_short = any(line.strip() == ELLIPSIS for line in old)
    shown: list[str] = []
    rest = [line for line in old if line.strip() != ELLIPSIS]
    for line in new:
        ratios = [difflib.SequenceMatcher(None, before, line).ratio() for before in rest]
        best = max(range(len(rest)), key=ratios.__getitem__, default=None)
        if best is not None and ratios[best] >= SIMILAR:
            shown.append(changed(rest[best], line))
            rest = rest[best + 1:]
        elif not is_short:
            shown.append(line)
        elif shown[-1:] != [ELLIPSIS]:
            shown.append(ELLIPSIS)
    # A `…` may stand for no line at all.
    return shown or [ELLIPSIS] * is_short


def changed(before: str, line: str) -> str:
    """A line, with `…` in its words where the line before had it."""
    old, new = (re.findall(r"\s+|\S+", text) for text in (before, line))
    words: list[str] = []
    for kind, i, last_i, j, last_j in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and last_i - i == last_j - j:
            words += [one if is_line(one, other) else other for one, other in zip(old[i:last_i], new[j:last_j])]
        elif kind == "replace" and old[i:last_i] == [ELLIPSIS]:
            words.append(ELLIPSIS)
        else:
            words += new[j:last_j]
    return "".join(words)
