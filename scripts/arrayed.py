"""The section of docs/src/results.md about programs on an array, which scripts/results writes."""

import json
import re
import resource
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tools
from published import Published

ARRAY = "amber"
HEADING = f"## Programs on the array `{ARRAY}`"
SPEC = tools.ROOT / "constraints" / "arrays" / f"{ARRAY}.yaml"

# Programs that a check builds: each takes about a second at most.
CHECKED = ["gaussian", "harris", "harris_sch2", "harris_sch8", "unsharp_new", "camera_pipeline", "laplacian_pyramid", "up_sample",
           "counter", "rom", "bc_mirror", "gpyr"]

# Seconds after which a build on fewer tracks is given up.
PATIENCE = 10

INTRODUCTION = f"""{HEADING}

Each program of `apps` on [`{ARRAY}`](programs-on-arrays.md), placed and routed with the first seed that routes, and proven.
Processing elements are tiles of 384, memory tiles of 128, with tables and bits of loop indices; published figures in
parentheses. Words that enter and leave are those of a cycle, each on an IO tile of 32. Tracks are those of a word or a bit from
a tile to the next, of 10,400 each; registers those of tracks and of operands. Cycles are counted from the start of a run to the
first and the last word that leaves; beside them stand those of the schedule, without routes, to the last word. Seconds are CPU
time from the program to the bitstream, with the proof; placement, routing and proof use two cores. The fewest tracks of each
kind, of five, are those with which the program still routes, within ten seconds.

"""


def build(pushmem: str, program: Path, spec: Path | str = ARRAY, patience: float | None = None) -> tuple[dict | None, str]:
    """The report of a build on an array, or why there is none."""
    command = [pushmem, "build", program, "--array", spec, "--json"]
    try:
        done = subprocess.run([str(word) for word in command], cwd=tools.ROOT, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return None, f"no routes in {patience} seconds"
    if done.returncode != 0:
        return None, done.stderr
    return json.loads(done.stdout), done.stderr


def with_tracks(tracks: int, folder: Path) -> Path:
    """A copy of the specification with so many tracks of words and of bits."""
    text, changed = re.subn(r"(?m)^tracks:.*$", f"tracks: {{word: {tracks}, bit: {tracks}}}", SPEC.read_text())
    assert changed == 1, SPEC
    copy = folder / f"tracks_{tracks}.yaml"
    copy.write_text(text)
    return copy


def fewest_tracks(pushmem: str, program: Path) -> int:
    """The fewest tracks with which a program that routes with five still does."""
    with tempfile.TemporaryDirectory() as folder:
        routes = lambda tracks: build(pushmem, program, with_tracks(tracks, Path(folder)), PATIENCE)[0] is not None
        with ThreadPoolExecutor(2) as pool:
            one, two = pool.map(routes, (1, 2))
        if one or two:
            return 1 if one else 2
        return next((tracks for tracks in (3, 4) if routes(tracks)), 5)


def refusal(log: str) -> str:
    """The first message of a log."""
    message = re.search(r"×\s*(.*?)\n\s*(?:╭|help|$)", log, re.DOTALL)
    return re.sub(r"\s*\n\s*│?\s*", " ", message[1]).strip() if message else log.strip().splitlines()[0]


def cpu_time() -> float:
    """Seconds of CPU time of all processes that were started and ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def app(name: str) -> Path:
    return tools.ROOT / "apps" / f"{name}.yaml"


def row(name: str, report: dict, seconds: str, tracks: int | str) -> list:
    """A row of the table. Without the fewest tracks, which are for writing a page, what routes decide is unknown."""
    published = Published(name, "amber")
    beside = lambda own, other: f"{own:,}" if other is None else f"{own:,} ({other:,})"
    used = lambda figure: report[figure]["used"]
    # Places depend on how a machine rounds exponentials.
    routed = lambda figure: tools.UNKNOWN if tracks == tools.UNKNOWN else figure
    share = 100 * used("processing_elements") / report["processing_elements"]["available"]
    return [name, beside(used("processing_elements"), published["processing_elements"]), f"{share:.0f} %",
            beside(used("memories"), published["memory_tiles"]), used("inputs"), used("outputs"),
            routed(used("word_tracks")), routed(used("bit_tracks")), routed(report["track_registers"]),
            routed(report["operand_registers"]), routed(report["bitstream_words"]), routed(report["first_word"]),
            routed(report["cycles"]), report["schedule_cycles"], seconds, tracks]


COLUMNS = ["program", "PEs", "of 384", "memory tiles", "words in", "words out", "word tracks", "bit tracks", "registers of tracks",
           "of operands", "bitstream words", "first word", "last word", "schedule", "CPU seconds", "fewest tracks"]


def section(pushmem: str, programs: list[str], table) -> str:
    """The section, from fresh builds of all programs. `table` makes a table of columns and rows."""
    rows, refused = [], []
    for name in programs:
        clock, before = tools.Clock(), cpu_time()
        report, log = build(pushmem, app(name))
        seconds = f"{cpu_time() - before:.1f}"
        if report is None:
            refused.append([name, refusal(log)])
        else:
            rows.append(row(name, report, seconds, fewest_tracks(pushmem, app(name))))
        print(f"{name}: {clock} s", flush=True)
    return (INTRODUCTION + table(COLUMNS, rows) + "The others do not fit, or need what the array does not have:\n\n"
            + table(["program", "refusal"], refused).replace("--:", "---"))


def checked(pushmem: str, page: str, table) -> str:
    """The section as it is on a page, with fresh rows of a few programs."""
    own = HEADING + page.split(HEADING)[1]
    with ThreadPoolExecutor(2) as pool:
        built = dict(zip(CHECKED, pool.map(lambda name: build(pushmem, app(name)), CHECKED)))
    for name, (report, log) in built.items():
        if report is None:
            tools.stop(f"{name} on {ARRAY}:\n{log}")
        fresh = table(COLUMNS, [row(name, report, tools.UNKNOWN, tools.UNKNOWN)]).splitlines()[2]
        own = re.sub(rf"(?m)^\| {name} \|.*$", lambda _: fresh, own, count=1)
    return own
