"""An exploration: from a request to a study with its page."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pushmem_explore import page, samplers, space
from pushmem_explore.engine import Engine, Local
from pushmem_explore.fronts import fronts, narrowed, regions
from pushmem_explore.points import Builder, Run
from pushmem_explore.problems import Problem
from pushmem_explore.sources import Program, Specifications, digest
from pushmem_explore.study import Study
from pushmem_explore.worker import DONE, REFUSED, version_of

# The least memory of a run: a small program, with the stacks of its threads.
LEAST_MEMORY = 64_000_000
# The line of progress is new every so often.
PROGRESS_SECONDS = 0.5


class Progress:
    """A line on standard error with what is done, how fast, and the time that is left."""

    def __init__(self, sampler: samplers.Sampler, shows: bool):
        self.sampler, self.shows = sampler, shows
        self.began = self.shown = time.monotonic()
        self.points = self.new = self.refused = self.failed = 0

    def count(self, result: dict, is_new: bool) -> None:
        self.points += 1
        self.new += is_new
        self.refused += result["status"] == REFUSED
        self.failed += result["status"] not in (DONE, REFUSED)
        if self.shows and time.monotonic() - self.shown > PROGRESS_SECONDS:
            self.shown = time.monotonic()
            sys.stderr.write(f"\r\x1b[K{self}")
            sys.stderr.flush()

    def __str__(self) -> str:
        seconds = time.monotonic() - self.began
        left = seconds / max(self.sampler.looked_at, 1) * max(self.sampler.expected - self.sampler.looked_at, 0)
        return (f"{self.points:,} points of at most {self.sampler.expected:,}, {self.points / max(seconds, 1e-9):.1f} a second, "
                f"{self.refused:,} refused, {duration(left)} left")

    def end(self) -> None:
        if self.shows:
            sys.stderr.write("\r\x1b[K")


def duration(seconds: float) -> str:
    """A time as people say it."""
    for size, unit in [(86400, "days"), (3600, "h"), (60, "min")]:
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def memory_of_machine() -> int:
    """The bytes of memory that are free."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise Problem("/proc/meminfo does not tell the free memory", "give it by `--memory`")


def options_of_build(program: str) -> list[str]:
    """The names of the options of `pushmem build`."""
    told = subprocess.run([program, "build", "--help"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.findall(r"^ +(?:-\w, )?--([a-z-]+)", told, re.MULTILINE)


class Exploration:
    """An exploration that was asked for."""

    def __init__(self, request: dict):
        self.request = request
        self.program = request["pushmem"]
        self.folder = Path(request["folder"])
        self.version = version_of(self.program)
        self.space = space.read(request["over"], options_of_build(self.program))
        programs = [Program(path) for path in dict.fromkeys(request["programs"])]
        self.builder = Builder(self.space, programs, Specifications(request["shipped"]), self.version)
        self.sampler = samplers.sampler(self.builder, request["sampler"], request["points"], request["seed"])
        cluster = request["cluster"]
        self.jobs = request["jobs"] or (os.cpu_count() if cluster is None else None)
        memory = request["memory"] * 10**9 if request["memory"] else 0.8 * memory_of_machine()
        self.memory_of_run = int(memory / self.jobs) if cluster is None else int(memory) if request["memory"] else None
        if self.memory_of_run is not None and self.memory_of_run < LEAST_MEMORY:
            has, needs = (f"{size / 1e6:.0f} MB" for size in (self.memory_of_run, LEAST_MEMORY))
            raise Problem(f"each run would have {has} of memory, and needs {needs} at least",
                          "give more by `--memory`, or do fewer at once by `--jobs`")

    def run(self) -> dict:
        """Explores: the report."""
        self._check_keys()
        study = Study(self.folder, self.version, self.request["reuse"])
        try:
            study.begin(self.space)
            progress = Progress(self.sampler, self.request["progress"])
            engine = self._engine(study, progress)
            try:
                engine.drive(self.sampler.points())
            finally:
                progress.end()
            best = fronts(study, self.space)
            self._reports(best)
            infeasible = [{"count": region.count, "status": region.status, "code": region.code, "reason": region.reason,
                           "where": narrowed(region, self.space)} for region in regions(study, self.space)]
            page.write(self.folder / "index.html", study, self.space, best, infeasible)
            return {"folder": str(self.folder), "points": progress.points, "done": progress.points - progress.refused - progress.failed,
                    "refused": progress.refused, "failed": progress.failed, "runs": engine.runs, "reused_runs": study.reused_runs,
                    "objectives": [objective.name for objective in self.space.objectives],
                    "fronts": [{"program": program, "points": points} for program, points in best.items()], "reasons": infeasible}
        finally:
            study.close()

    def _engine(self, study: Study, progress: Progress) -> Engine:
        def told(point, result, is_new):
            progress.count(result, is_new)
            self.sampler.told(point, result)

        return Engine(study, self._place(), self.task, told, self.space.clock)

    def _place(self) -> Local:
        """Where runs are done. Only a cluster needs Dask."""
        if self.request["cluster"] is None:
            return Local(self.jobs)
        from pushmem_explore.clusters import Cluster
        return Cluster(self.request["cluster"], self.jobs)

    def task(self, wanted: Run) -> dict:
        """A run as a worker gets it."""
        folder = str(self.folder.resolve()) if self.request["cluster"] is None else None
        return {"key": wanted.key, "kind": wanted.kind, "arguments": list(wanted.arguments), "files": wanted.files, "folder": folder,
                "program": self.program, "version": self.version, "timeout": self.request["timeout"], "memory": self.memory_of_run}

    def _check_keys(self) -> None:
        """Refuses keys of specifications that no specification has, before all points are refused for them."""
        values = self.space.values(0)
        for kind in self.space.bases:
            for parameter in self.space.parameters:
                if parameter.kind == "key" and parameter.target.startswith(f"{kind}/"):
                    target = parameter.target.partition("/")[2]
                    value = next((value for value in parameter.values if value is not None), None)
                    try:
                        _, text = self.builder.specifications.variant(kind, self.space.bases[kind], ((target, value),), ())
                    except Problem as problem:
                        raise self.builder.placed(problem) from None
                    self._check_key(parameter, target, text)
        # Programs and specifications that are not there, and lines that they do not have.
        for program in self.builder.programs:
            self.builder.point(program, values)

    def _check_key(self, parameter: space.Parameter, target: str, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "specification.yaml")
            file.write_text(text)
            done = subprocess.run([self.program, "check", file, "--message-format", "json"], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in done.stderr.splitlines():
            message = json.loads(line)
            if message.get("message") in {f"unknown key `{key}`" for key in target.split(".")}:
                raise self.space.document.problem(parameter.node, message["message"], message["help"])

    def _reports(self, best: dict[str, list[dict]]) -> None:
        """Builds the first points of the fronts with their reports. Each is there once: its folder is named by its command."""
        wanted = [point for points in zip_longest(best.values()) for point in points][:self.request["reports"]]
        for point in wanted:
            point["report"] = f"reports/{digest(point['command'])[:8]}/report.html"
        with ThreadPoolExecutor(self.jobs or os.cpu_count()) as pool:
            list(pool.map(self._report, wanted))

    def _report(self, point: dict) -> None:
        if (self.folder / point["report"]).exists():
            return
        arguments = [self.program, *shlex.split(point["command"])[1:], "--folder", str(Path(point["report"]).parent), "--quiet"]
        done = subprocess.run(arguments, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True)
        if done.returncode:
            raise Problem(f"the report of a point cannot be written: {done.stderr.strip()}", f"the command is `{point['command']}`")


def zip_longest(lists):
    """Lists of the first entries of all, the second ones, and so on."""
    lists = [list(entries) for entries in lists]
    return [[entries[place] for entries in lists if place < len(entries)] for place in range(max(map(len, lists), default=0))]


# Points of a front that the text shows, and reasons.
SHOWN = 10


def text_of(report: dict) -> str:
    """The report for people."""
    new = f"{report['runs']:,} runs" + (f", {report['reused_runs']:,} of another study" if report["reused_runs"] else "")
    failed = f", {report['failed']:,} failed" if report["failed"] else ""
    lines = [f"{report['folder']}/index.html: {report['points']:,} points, {report['refused']:,} refused{failed}; {new}"]
    for front in report["fronts"]:
        points = front["points"]
        lines.append(f"{front['program']}: {len(points)} {'point' if len(points) == 1 else 'points'}, none better in all objectives")
        rows = [[figure_text(point["figures"].get(name)) for name in report["objectives"]] + [values_text(point["values"])]
                for point in points[:SHOWN]]
        rows.insert(0, [name.replace("_", " ") for name in report["objectives"]] + [""])
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines += ["  " + "  ".join(cell.rjust(width) for cell, width in zip(row[:-1], widths)) + f"  {row[-1]}" for row in rows]
        if len(points) > SHOWN:
            lines.append(f"  and {len(points) - SHOWN} more on the page")
    for region in report["reasons"][:SHOWN]:
        where = values_text(region["where"])
        lines.append(f"{region['count']:,} {region['status']}: {region['reason']}" + (f" (where {where})" if where else ""))
    if len(report["reasons"]) > SHOWN:
        lines.append(f"and {len(report['reasons']) - SHOWN} more reasons on the page")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def figure_text(value: float | None) -> str:
    """A figure as people read it."""
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.5g}"


def values_text(values: dict) -> str:
    """Parameters and their values, as a line has them."""
    spell = lambda value: {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)
    entries = [(name, [value] if not isinstance(value, list) else value) for name, value in values.items()]
    return ", ".join(f"{name} {' or '.join(map(spell, choices))}" for name, choices in entries)
