"""The section of docs/src/results.md about programs on an array, which scripts/results writes."""

import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tools
from published import ARRAY, Published
from published import ARRAY_HEADING as HEADING

# Tracks of the array, of words and of bits.
MOST_TRACKS = 5

TRACKS = f"""\
The fewest tracks from a tile to the next with which programs route, of words with {MOST_TRACKS} of bits, and then of bits with these
of words, found by trying.

"""

# Programs that a check builds: each takes about a second at most.
CHECKED = ["gaussian", "harris", "harris_sch2", "harris_sch8", "unsharp_new", "camera_pipeline", "laplacian_pyramid", "up_sample",
           "counter", "rom", "bc_mirror", "gpyr", "mobilenet"]

INTRODUCTION = f"""{HEADING}

Each program of `apps` on [`{ARRAY}`](programs-on-arrays.md), placed and routed with the first seed that routes, and proven.
Processing elements are tiles of 384, memory tiles of 128, with tables and bits of loop indices; published figures in
parentheses. Words that enter and leave are those of a cycle, each on an IO tile of 32. Tracks are those of a word or a bit from
a tile to the next, of 10,400 each; registers those of tracks and of operands. Cycles are counted from the start of a run to the
first and the last word that leaves; beside them stand those of dedicated hardware, to the last word, and the share of cycles that the
array adds. Where it is large, the loop of a recurrence takes cycles for its routes, or the image is small. Unroll is the product of the
largest unroll factors of the nested loops of a statement. CPU seconds are those of the whole process, from the program to the
bitstream, with the proof; those of the steps are seconds of the clock, and placement, routing and proof use two cores.

"""


def build(pushmem: str, program: Path, array: str | Path = ARRAY) -> tuple[dict | None, str, float]:
    """The report of a build on the array, or why there is none; and its CPU seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        status, usage = tools.run_measured([pushmem, "build", program, "--array", array, "--json"], stdout=out, stderr=log)
        out.seek(0)
        log.seek(0)
        report = json.load(out) if status == 0 else None
        return report, log.read().decode(), usage.ru_utime + usage.ru_stime


def with_tracks(folder: Path, words: int, bits: int) -> Path:
    """The array with other tracks."""
    text = (tools.ROOT / "constraints" / "arrays" / f"{ARRAY}.yaml").read_text()
    changed, count = re.subn(r"(?m)^tracks: .*$", f"tracks: {{word: {words}, bit: {bits}}}", text)
    if count != 1:
        tools.stop(f"{ARRAY}.yaml has no line of tracks")
    file = folder / f"{ARRAY}_{words}_{bits}.yaml"
    file.write_text(changed)
    return file


def fewest_tracks(pushmem: str, program: Path) -> tuple[int, int]:
    """The fewest tracks of words, and with these of bits, with which a program routes that routes with the most."""
    with tempfile.TemporaryDirectory() as folder:
        routes = lambda words, bits: build(pushmem, program, with_tracks(Path(folder), words, bits))[0] is not None
        words = next((words for words in range(1, MOST_TRACKS) if routes(words, MOST_TRACKS)), MOST_TRACKS)
        bits = next((bits for bits in range(1, MOST_TRACKS) if routes(words, bits)), MOST_TRACKS)
    return words, bits


def tracks(pushmem: str, programs: list[str], table) -> str:
    """The table of the fewest tracks of programs that fit the array."""
    with ThreadPoolExecutor(2) as pool:
        fewest = pool.map(lambda name: fewest_tracks(pushmem, app(name)), programs)
        return TRACKS + table(["program", "tracks of words", "tracks of bits"], [[name, *of] for name, of in zip(programs, fewest)])


def refusal(log: str) -> str:
    """The first message of a log."""
    message = re.search(r"×\s*(.*?)\n\s*(?:╭|help|$)", log, re.DOTALL)
    return re.sub(r"\s*\n\s*│?\s*", " ", message[1]).strip() if message else log.strip().splitlines()[0]


def app(name: str) -> Path:
    return tools.ROOT / "apps" / f"{name}.yaml"


def unroll(program: str) -> int:
    """Copies of the statement of a program that has most: the product of the unroll factors of its loops."""
    most, around = 1, []
    for line in app(program).read_text().splitlines():
        if loop := re.match(r"( *)- for .*?(?: unroll (\d+))?:$", line):
            depth, factor = len(loop[1]), int(loop[2] or 1)
            around = [(level, copies) for level, copies in around if level < depth]
            around.append((depth, factor * (around[-1][1] if around else 1)))
            most = max(most, around[-1][1])
    return most


def row(name: str, report: dict, seconds: float | None) -> list:
    """A row of the table. Without the seconds, which are for writing a page, what routes decide is unknown."""
    published = Published(name, "amber")
    beside = lambda own, other: f"{own:,}" if other is None else f"{own:,} ({other:,})"
    used = lambda figure: report[figure]["used"]
    # Places depend on how a machine rounds exponentials.
    routed = lambda figure: tools.UNKNOWN if seconds is None else figure
    share = 100 * used("processing_elements") / report["processing_elements"]["available"]
    return [name, unroll(name), beside(used("processing_elements"), published["processing_elements"]), f"{share:.0f} %",
            beside(used("memories"), published["memory_tiles"]), used("inputs"), used("outputs"),
            routed(used("word_tracks")), routed(used("bit_tracks")), routed(report["track_registers"]),
            routed(report["operand_registers"]), routed(report["bitstream_words"]), routed(report["first_word"]),
            routed(report["cycles"]), report["dedicated_cycles"],
            routed(f"{100 * (report['cycles'] / report['dedicated_cycles'] - 1):.1f} %"), routed(f"{seconds or 0:.1f}"),
            *(routed(f"{report['steps'][step]:.2f}") for step in STEPS)]


# Steps whose seconds are shown; selection and encoding take none to speak of.
STEPS = ["compile", "place_and_route", "proof"]
COLUMNS = ["program", "unroll", "PEs", "of 384", "memory tiles", "words in", "words out", "word tracks", "bit tracks",
           "registers of tracks", "of operands", "bitstream words", "first word", "last word", "dedicated", "added", "CPU seconds",
           *(step.replace("_", " ") for step in STEPS)]


def section(pushmem: str, programs: list[str], table) -> str:
    """The section, from fresh builds of all programs. `table` makes a table of columns and rows."""
    rows, refused = [], []
    with ThreadPoolExecutor(2) as pool:
        for name, (report, log, seconds) in zip(programs, pool.map(lambda name: build(pushmem, app(name)), programs)):
            if report is None:
                refused.append([name, refusal(log)])
            else:
                rows.append(row(name, report, seconds))
    return (INTRODUCTION + table(COLUMNS, rows) + "The others do not fit, or need what the array does not have:\n\n"
            + table(["program", "refusal"], refused).replace("--:", "---") + tracks(pushmem, [name for name, *_ in rows], table))


def updated(pushmem: str, page: str, programs: list[str], table) -> str:
    """The section as it is on a page, with fresh rows of these programs, and without those that are no longer there."""
    parts = re.split(r"(?m)(^\|[-:| ]*\|\n)((?:\|.*\n)*)", HEADING + page.split(HEADING)[1])
    running, refused, fewest = ({line.split("|")[1].strip(): line for line in rows.splitlines()} for rows in parts[2::3])
    line = lambda cells: table(["program"], [cells]).splitlines()[2]
    for name in programs:
        for rows in (running, refused, fewest):
            rows.pop(name, None)
        if not app(name).exists():
            continue
        report, log, seconds = build(pushmem, app(name))
        if report is None:
            refused[name] = line([name, refusal(log)])
        else:
            running[name] = line(row(name, report, seconds))
            fewest[name] = line([name, *fewest_tracks(pushmem, app(name))])
    parts[2::3] = ["".join(f"{rows[name]}\n" for name in sorted(rows)) for rows in (running, refused, fewest)]
    return "".join(parts)


def checked(pushmem: str, page: str, programs: list[str], table) -> str:
    """The section as it is on a page, with fresh rows of these programs."""
    own = HEADING + page.split(HEADING)[1]
    with ThreadPoolExecutor(2) as pool:
        built = dict(zip(programs, pool.map(lambda name: build(pushmem, app(name)), programs)))
    for name, (report, log, _) in built.items():
        if report is None:
            tools.stop(f"{name} on {ARRAY}:\n{log}")
        fresh = table(COLUMNS, [row(name, report, None)]).splitlines()[2]
        own = re.sub(rf"(?m)^\| {name} \|.*$", lambda _: fresh, own, count=1)
    return own
