"""Runs points on an executor, keeps their results, and goes on where workers fail."""

import concurrent.futures
import errno
import queue
import time
from collections.abc import Callable, Iterable

from pushmem_explore.points import Point, Run
from pushmem_explore.problems import Problem
from pushmem_explore.study import COMMIT_SECONDS, Study
from pushmem_explore.worker import LOST, end_all, run_all

# So often a run is tried whose worker dies.
ATTEMPTS = 3
# The most runs of a batch, and the weight of a run in the mean of their times.
MOST_OF_BATCH, WEIGHT = 100, 0.1
# So long the connection to an executor is tried again.
RECONNECT_SECONDS = 60


class Engine:
    """Runs points, at most so many runs at once.

    `connect` gives an executor of `concurrent.futures`, and another one where that is lost; `task` gives the plain data of a run for
    a worker, `told` learns how each point ended. A batch has the runs of about so many seconds: one message for all of them.
    """

    def __init__(self, study: Study, connect: Callable[[], concurrent.futures.Executor], at_once: int, batch_seconds: float,
                 task: Callable[[Run], dict], told: Callable[[Point, dict, bool], None], clock: float | None):
        self.study, self.connect, self.task, self.told, self.clock = study, connect, task, told, clock
        self.executor = connect()
        self.at_once, self.batch_seconds = at_once, batch_seconds
        # The mean time of the runs, of the latest most.
        self.run_seconds: float | None = None
        self.ended: queue.SimpleQueue = queue.SimpleQueue()
        self.in_flight = 0
        # Runs that wait for others of their batch.
        self.gathered: list[Run] = []
        self.attempts: dict[str, int] = {}
        # Of each run that is not known yet, the points that need it; of each point, so many runs are missing.
        self.waiting: dict[str, list[Point]] = {}
        self.missing: dict[int, int] = {}
        self.runs = 0

    def drive(self, points: Iterable[Point]) -> None:
        """Runs all points. They are taken when there is room for them, so that a sampler sees results before it chooses."""
        try:
            for point in points:
                self._begin(point)
                while self.in_flight >= self.at_once:
                    self._take()
            while self.in_flight or self.gathered:
                self._submit_gathered()
                self._take()
        finally:
            self.study.commit()
            self.executor.shutdown(wait=False, cancel_futures=True)
            end_all()

    def _begin(self, point: Point) -> None:
        if self.study.has(point):
            self._finish(point, False)
            return
        missing = 0
        for run in point.runs:
            if run.key in self.waiting:
                self.waiting[run.key].append(point)
                missing += 1
            elif self.study.known(run) is None:
                self.waiting[run.key] = [point]
                missing += 1
                self.gathered.append(run)
                if len(self.gathered) >= self.batch:
                    self._submit_gathered()
        if missing:
            self.missing[id(point)] = missing
        else:
            self._finish(point, False)

    def _finish(self, point: Point, is_new: bool) -> None:
        results = [self.study.known(run) for run in point.runs]
        self.told(point, self.study.add_point(point, results, self.clock), is_new)

    @property
    def batch(self) -> int:
        """The runs of a batch."""
        return 1 if not self.run_seconds else max(1, min(MOST_OF_BATCH, round(self.batch_seconds / self.run_seconds)))

    def _submit_gathered(self) -> None:
        if self.gathered:
            runs, self.gathered = self.gathered, []
            self._submit(runs)

    def _submit(self, runs: list[Run]) -> None:
        until = time.monotonic() + RECONNECT_SECONDS
        tasks = [self.task(run) for run in runs]
        while True:
            try:
                future = self.executor.submit(run_all, tasks)
                break
            except Exception as error:
                if time.monotonic() > until:
                    raise Problem(f"no worker takes runs any more: {error}",
                                  "start the workers and give the same command again: it goes on with what is kept") from None
                time.sleep(1)
                self._reconnect()
        self.in_flight += 1
        future.add_done_callback(lambda future: self.ended.put((future, runs)))

    def _reconnect(self) -> None:
        try:
            self.executor = self.connect()
        except OSError:
            # The next attempt to submit finds out.
            pass

    def _take(self) -> None:
        """Takes the results of a batch that ended."""
        try:
            future, runs = self.ended.get(timeout=COMMIT_SECONDS)
        except queue.Empty:
            self.study.commit()
            future, runs = self.ended.get()
        self.in_flight -= 1
        try:
            results = future.result()
        except (Exception, concurrent.futures.CancelledError) as error:
            self._again(runs, error)
            return
        for run, result in zip(runs, results):
            self._keep(run, result)

    def _keep(self, run: Run, result: dict) -> None:
        self.runs += 1
        seconds = result["seconds"]
        self.run_seconds = seconds if self.run_seconds is None else (1 - WEIGHT) * self.run_seconds + WEIGHT * seconds
        self.study.add_run(run, result)
        self.attempts.pop(run.key, None)
        for point in self.waiting.pop(run.key):
            self.missing[id(point)] -= 1
            if not self.missing[id(point)]:
                del self.missing[id(point)]
                self._finish(point, True)

    def _again(self, runs: list[Run], error: BaseException) -> None:
        """Runs of a batch that failed, each by itself: one of them may have ended its worker."""
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.EACCES, errno.EROFS):
            raise Problem(f"a worker cannot go on: {error}", "put that right and give the same command again: it goes on with what is kept")
        if isinstance(error, RuntimeError) and "this worker has" in str(error):
            raise Problem(str(error), "install the same pushmem for the workers")
        for run in runs:
            self.attempts[run.key] = self.attempts.get(run.key, 0) + 1
            if self.attempts[run.key] < ATTEMPTS:
                self._submit([run])
            else:
                reason = f"{ATTEMPTS} workers ended while they ran it: {error or type(error).__name__}"
                self._keep(run, {"status": LOST, "reason": reason, "code": None, "figures": {}, "seconds": 0.0})
