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
# After so long without a result the executor is asked whether it is there.
SILENT_SECONDS = 5


class Local:
    """This machine as a place for runs: where an executor comes from, and whether it is lost. The others have the same methods."""

    # The messages of threads cost nothing.
    batch_seconds = 0.0

    def __init__(self, jobs: int):
        self.jobs = jobs
        # Two runs wait for each that runs, so that none waits for the loop that keeps results.
        self.at_once = 3 * jobs

    def connect(self) -> concurrent.futures.Executor:
        """An executor."""
        return concurrent.futures.ThreadPoolExecutor(self.jobs)

    def is_lost(self, _: BaseException) -> bool:
        """Whether an error means that the executor is lost, with all that it was given."""
        return False

    def is_alive(self, _: concurrent.futures.Executor) -> bool:
        """Whether an executor still knows of its runs. This is asked where no result comes for a while."""
        return True


class Engine:
    """Runs points at a place, at most so many batches at once. A batch has the runs of about so many seconds: one message for all.

    `task` gives the plain data of a run for a worker, `told` learns how each point ended.
    """

    def __init__(self, study: Study, place: Local, task: Callable[[Run], dict], told: Callable[[Point, dict, bool], None],
                 clock: float | None):
        self.study, self.place, self.task, self.told, self.clock = study, place, task, told, clock
        self.executor = place.connect()
        # When the executor was lost, if no result came since.
        self.lost_since: float | None = None
        # The mean time of the runs, of the latest most.
        self.run_seconds: float | None = None
        self.ended: queue.SimpleQueue = queue.SimpleQueue()
        # The batches on their way, and the executor of each.
        self.in_flight: dict[concurrent.futures.Future, tuple[concurrent.futures.Executor, list[Run]]] = {}
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
                while len(self.in_flight) >= self.place.at_once:
                    self._take()
            while self.in_flight or self.gathered:
                self._submit_gathered()
                self._take()
        finally:
            self.study.commit()
            for future in self.in_flight:
                future.cancel()
            self.executor.shutdown(wait=False)
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
        return 1 if not self.run_seconds else max(1, min(MOST_OF_BATCH, round(self.place.batch_seconds / self.run_seconds)))

    def _submit_gathered(self) -> None:
        if self.gathered:
            runs, self.gathered = self.gathered, []
            self._submit(runs)

    def _submit(self, runs: list[Run]) -> None:
        tasks = [self.task(run) for run in runs]
        while True:
            executor = self.executor
            try:
                future = executor.submit(run_all, tasks)
                break
            except Exception as error:
                self._lose(executor, error)
        self.in_flight[future] = executor, runs
        future.add_done_callback(self.ended.put)

    def _lose(self, executor: concurrent.futures.Executor, error: BaseException) -> None:
        """Takes another executor in place of one that is lost, unless that has been done."""
        now = time.monotonic()
        self.lost_since = self.lost_since or now
        if now - self.lost_since > RECONNECT_SECONDS:
            raise Problem(f"no worker takes runs any more: {error or type(error).__name__}",
                          "start the workers and give the same command again: it goes on with what is kept") from None
        if executor is self.executor:
            try:
                self.executor = self.place.connect()
            except OSError:
                time.sleep(1)

    def _take(self) -> None:
        """Takes the results of a batch that ended."""
        future = self._next()
        if future not in self.in_flight:
            # Of an executor that was lost: its runs are done by another one.
            return
        executor, runs = self.in_flight.pop(future)
        try:
            results = future.result()
        except (Exception, concurrent.futures.CancelledError) as error:
            self._again(executor, runs, error)
            return
        self.lost_since = None
        for run, result in zip(runs, results):
            self._keep(run, result)

    def _next(self) -> concurrent.futures.Future:
        """The next future that ends. What is known is kept before a long wait."""
        wait = COMMIT_SECONDS
        while True:
            try:
                return self.ended.get(timeout=wait)
            except queue.Empty:
                self.study.commit()
            if wait == SILENT_SECONDS and not self.place.is_alive(self.executor):
                self._lose(self.executor, ConnectionError("the scheduler does not know its runs any more"))
                lost, self.in_flight = self.in_flight, {}
                for _, runs in lost.values():
                    self._submit(runs)
            wait = SILENT_SECONDS

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

    def _again(self, executor: concurrent.futures.Executor, runs: list[Run], error: BaseException) -> None:
        """Does runs of a batch that failed once more: with another executor, or each by itself, since one may have ended its worker."""
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.ENOENT, errno.EACCES, errno.EROFS):
            raise Problem(f"a worker cannot go on: {error}", "put that right and give the same command again: it goes on with what is kept")
        if isinstance(error, RuntimeError) and "this worker has" in str(error):
            raise Problem(str(error), "install the same pushmem for the workers")
        if self.place.is_lost(error):
            self._lose(executor, error)
            self._submit(runs)
            return
        for run in runs:
            self.attempts[run.key] = self.attempts.get(run.key, 0) + 1
            if self.attempts[run.key] < ATTEMPTS:
                self._submit([run])
            else:
                reason = f"{ATTEMPTS} workers ended while they ran it: {error or type(error).__name__}"
                self._keep(run, {"status": LOST, "reason": reason, "code": None, "figures": {}, "seconds": 0.0})
