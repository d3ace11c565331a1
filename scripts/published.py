"""Published figures, and the programs that have them; and the tables and counts of README.md and of the page about HLS, which are made of
them and of the pages that scripts/results and scripts/comparison write."""

import json
import re
from pathlib import Path

import tools

# Programs whose figures stand beside published ones.
PROGRAMS = ["gaussian", "harris", "up_sample", "unsharp", "camera_pipeline", "laplacian_pyramid", "mobilenet", "resnet88"]
PAGES = tools.ROOT / "docs" / "src"
# The array whose programs are counted, and the heading of its section in Results.
ARRAY = "amber"
ARRAY_HEADING = f"## Programs on the array `{ARRAY}`"


def output_size(program: str) -> tuple[int, ...]:
    """The size of the first output of a program of `apps/`, innermost dimension first."""
    text = (tools.ROOT / "apps" / f"{program}.yaml").read_text()
    return tuple(map(int, re.search(r"^outputs:.*?shape: \[([\d, ]+)\]", text, re.MULTILINE | re.DOTALL)[1].split(",")))


class Published(dict):
    """Published figures of a program, if its output has the published size, on a tile; None where there is none."""

    FILE = tools.ROOT / "generator" / "flow" / "report" / "published.json"
    ALL = {(entry["program"], tuple(entry["output"]), entry["tile"]): entry for entry in json.loads(FILE.read_text())}

    def __init__(self, program: str, tile: str):
        super().__init__(self.ALL.get((program, output_size(program), tile), {}))

    def __missing__(self, figure: str) -> None:
        return None


def figures(page: str, heading: str) -> dict[str, list[str]]:
    """The rows of the first table below a heading of a page of the book, by their first cell."""
    text = (PAGES / page).read_text().split(f"\n## {heading}\n")[1]
    rows = re.search(r"(?m)^\|[-:| ]*\|\n((?:\|.*\n?)*)", text)[1].splitlines()
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {name: rest for name, *rest in cells}


def tables() -> list[tuple[Path, str, str]]:
    """Pages, the first line of a table in each, and the rows of the table."""
    results = figures("results.md", "Beside the published figures")
    accelerators = figures("comparison.md", "Accelerators")
    fpga = {name: Published(name, "amber")["fpga"] for name in PROGRAMS}
    summary = []
    for name in PROGRAMS:
        cycles, sequential, _, _, tiles, *_ = results[name]
        *_, area, _, clock = accelerators.get(name, ["–", "", "–"])
        summary.append([name, cycles, sequential, tiles, area, clock, fpga[name] or "–"])
    text = lambda rows: "".join(f"| {' | '.join(row)} |\n" for row in rows)
    return [(tools.ROOT / "README.md", "| Program | Cycles |", text(summary)),
            (PAGES / "from-hls.md", "| program | Vivado HLS, published |", text([[name, fpga[name]] for name in PROGRAMS if fpga[name]]))]


def on_array() -> tuple[set[str], set[str]]:
    """The programs that run on the array, and those that are refused, by Results."""
    section = (PAGES / "results.md").read_text().split(f"\n{ARRAY_HEADING}\n")[1]
    tables = re.findall(r"(?m)^\|[-:| ]*\|\n((?:\|.*\n)*)", section)
    running, refused = ({line.split("|")[1].strip() for line in rows.splitlines()} for rows in tables[:2])
    return running, refused


def unlisted() -> list[str]:
    """The programs of `apps` that Results does not have on the array, and those that it has and are not there."""
    return sorted(set.union(*on_array()) ^ {path.stem for path in (tools.ROOT / "apps").glob("*.yaml")})


def write_counts(*, check: bool) -> list[str]:
    """Writes the counts of programs in README.md anew, or with `check` writes nothing: the pages that have other ones."""
    running, refused = on_array()
    page = tools.ROOT / "README.md"
    text = page.read_text()
    new, found = re.subn(r"Of the \d+ programs, \d+ run on it", f"Of the {len(running | refused)} programs, {len(running)} run on it", text)
    if found != 1:
        tools.stop("README.md does not say how many programs run on the array: `Of the … programs, … run on it`")
    if new != text and not check:
        page.write_text(new)
    return ["README.md"] * (new != text)


def write_tables(*, check: bool = False) -> list[str]:
    """Writes the tables and counts anew, or with `check` writes nothing: the pages that have other ones."""
    changed = write_counts(check=check)
    for page, title, rows in tables():
        text = page.read_text()
        head = re.search(rf"(?m)^{re.escape(title)}.*\n\|[-:| ]*\|\n", text)
        end = re.compile(r"(?:\|.*\n)*").match(text, head.end()).end()
        if text[head.end():end] != rows:
            changed.append(str(page.relative_to(tools.ROOT)))
            if not check:
                page.write_text(text[:head.end()] + rows + text[end:])
    return changed
