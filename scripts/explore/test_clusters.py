"""Tests of explorations on a cluster of Dask whose workers, scheduler and client are killed."""

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import tools
from pushmem_explore.worker import run_all
from test_breaks import LARGER, POINTS
from test_studies import rows
from testing import SMALL, answer, counting, package, request, scratch, space_file

SAME = "SELECT program, parameters, status, reason, figures FROM points"


class Cluster:
    """A scheduler and workers as processes, which share no folder with the study."""

    def __init__(self, folder: Path):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen] = []
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard")

    def start(self, kind: str, *options) -> subprocess.Popen:
        log = open(self.folder / f"{kind}.log", "a")
        with log:
            return subprocess.Popen([tools.VENV / "bin" / "dask", kind, *map(str, options)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": ""}, start_new_session=True)

    def add_worker(self) -> None:
        self.workers.append(self.start("worker", self.address, "--nthreads", 1, "--no-nanny", "--no-dashboard", "--death-timeout", 120,
                                       "--local-directory", self.folder))

    def restart_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard")

    def end(self) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def log(self) -> str:
        return "".join(file.read_text()[-2000:] for file in self.folder.glob("*.log"))


@contextmanager
def cluster(workers: int):
    """A cluster with workers."""
    with scratch() as folder:
        made = Cluster(folder)
        try:
            for _ in range(workers):
                made.add_worker()
            yield made
        finally:
            made.end()


def expected(program: str) -> list[tuple]:
    """The points of the space without a cluster."""
    with scratch() as folder:
        space_file(folder, LARGER)
        answer(request(program, folder))
        return rows(folder, SAME)


def finish(child: subprocess.Popen) -> dict:
    out, errors = child.stdout.read(), child.stderr.read()
    assert child.wait() == 0, errors
    told = json.loads(out)
    assert "report" in told, told
    return told["report"]["json"]


def until_builds(folder: Path, count: int, child: subprocess.Popen, nodes: Cluster) -> None:
    """Waits for so many builds."""
    file, until = folder / "builds", time.monotonic() + 90
    while not file.exists() or len(file.read_text().splitlines()) < count:
        assert child.poll() is None, child.stdout.read() + child.stderr.read()
        assert time.monotonic() < until, nodes.log()
        time.sleep(0.02)


def test_a_cluster_finds_what_one_machine_finds(pushmem: str) -> None:
    with scratch() as folder, cluster(2) as nodes:
        space_file(folder, LARGER)
        report = answer(request(pushmem, folder, cluster=nodes.address))
        assert report.get("points") == POINTS and report["runs"] == POINTS, f"{report}{nodes.log()}"
        assert rows(folder, SAME) == expected(pushmem)


def test_workers_that_die_lose_nothing(pushmem: str) -> None:
    with scratch() as folder, cluster(2) as nodes:
        space_file(folder, LARGER)
        program = counting(pushmem, folder, 0.1)
        wanted = expected(program)
        (folder / "builds").unlink()
        child = package(request(program, folder, cluster=nodes.address))
        for place in (0, 1):
            until_builds(folder, 4 + 8 * place, child, nodes)
            nodes.workers[place].kill()
            nodes.add_worker()
        report = finish(child)
        assert (report["points"], report["failed"]) == (POINTS, 0), report
        assert rows(folder, SAME) == wanted


def long_test_of_a_scheduler_that_restarts_loses_nothing(pushmem: str) -> None:
    with scratch() as folder, cluster(2) as nodes:
        space_file(folder, LARGER)
        program = counting(pushmem, folder, 0.1)
        wanted = expected(program)
        (folder / "builds").unlink()
        child = package(request(program, folder, cluster=nodes.address))
        until_builds(folder, 6, child, nodes)
        nodes.restart_scheduler()
        # Workers of a scheduler that is gone end, as they do under a batch system, which starts others.
        nodes.add_worker()
        report = finish(child)
        assert (report["points"], report["failed"]) == (POINTS, 0), report
        assert rows(folder, SAME) == wanted


def test_a_client_that_dies_goes_on_at_its_cluster(pushmem: str) -> None:
    with scratch() as folder, cluster(2) as nodes:
        space_file(folder, LARGER)
        program = counting(pushmem, folder, 0.1)
        child = package(request(program, folder, cluster=nodes.address))
        until_builds(folder, 10, child, nodes)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kept = rows(folder, "SELECT * FROM runs")
        report = answer(request(program, folder, cluster=nodes.address))
        assert (report["points"], report["runs"]) == (POINTS, POINTS - len(kept)), report
        assert set(kept) <= set(rows(folder, "SELECT * FROM runs"))


def test_clusters_that_cannot_be_used_are_refused(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        settings = folder / "cluster.yaml"
        for text, message in [("", "is empty"), ("jobs: 2", "no `system`"), ("system: slrum", "no batch system `slrum`"),
                              ("system: slurm", "the number of jobs"), ("{system: slurm, jobs: 1, cors: 1}", "does not take this")]:
            settings.write_text(text)
            refused = answer(request(pushmem, folder, cluster=str(settings), jobs=None))
            assert message in refused["message"], refused
        # Workers that have another pushmem than the study.
        task = {"folder": None, "program": pushmem, "version": "pushmem 0.0.1 (0)", "files": {}, "arguments": []}
        try:
            run_all([task])
        except RuntimeError as error:
            assert "this worker has pushmem" in str(error), error
        else:
            raise AssertionError("a worker runs another version")
        nothing = answer(request(pushmem, folder, cluster="tcp://127.0.0.1:9"))
        assert "no cluster at `tcp://127.0.0.1:9`" in nothing["message"], nothing
