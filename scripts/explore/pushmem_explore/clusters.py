"""Clusters: a Dask scheduler at an address, or one with workers that a batch system starts."""

import asyncio
import concurrent.futures
import tempfile
import zipfile
from pathlib import Path

from pushmem_explore.engine import Local
from pushmem_explore.problems import Document, Problem, nearest, plain

# Batches that wait at each worker or run there.
BATCHES_PER_WORKER = 4
# So long the first worker is waited for.
WAIT_SECONDS = 600
CONNECT_SECONDS = 10
# The classes of dask-jobqueue by the names of the batch systems.
SYSTEMS = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster", "sge": "SGECluster", "htcondor": "HTCondorCluster",
           "oar": "OARCluster", "moab": "MoabCluster"}


class Cluster(Local):
    """A cluster as a place for runs."""

    # A message takes some milliseconds.
    batch_seconds = 1.0

    def __init__(self, named: str, jobs: int | None):
        try:
            import distributed
        except ImportError:
            raise Problem("clusters are Dask's, which is not here", "install it by `scripts/setup --explore`, or by "
                          "`pip install distributed dask-jobqueue` into the Python of pushmem") from None
        self.dask = distributed
        self.address, workers = named, jobs
        if Path(named).suffix in (".yaml", ".yml"):
            # Its workers are there as long as it is.
            self.system, workers = _batch_system(named, jobs)
            self.address = self.system.scheduler_address
        try:
            self.first = self._connect()
        except OSError as error:
            raise Problem(str(error), "start the scheduler and its workers, and give its address, as `tcp://10.0.0.1:8786`") from None
        threads = sum(self.first.client.nthreads().values())
        self.at_once = BATCHES_PER_WORKER * max(workers or 0, threads)

    def connect(self) -> concurrent.futures.Executor:
        first, self.first = self.first, None
        return first or self._connect()

    def _connect(self) -> concurrent.futures.Executor:
        try:
            client = self.dask.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
            client.wait_for_workers(1, timeout=WAIT_SECONDS)
            _upload(client)
        except (OSError, ValueError, RuntimeError) as error:
            raise OSError(f"no cluster at `{self.address}`: {error}") from None
        executor = client.get_executor(retries=2, pure=False)
        executor.client = client
        return executor

    def is_lost(self, error: BaseException) -> bool:
        # The connection ended, tasks were forgotten, or a new scheduler has no package.
        is_new = isinstance(error, RuntimeError) and "deserialization of the task graph" in str(error)
        return is_new or isinstance(error, (concurrent.futures.CancelledError, asyncio.CancelledError, OSError, TimeoutError))

    def is_alive(self, executor: concurrent.futures.Executor) -> bool:
        try:
            return executor.client.run_on_scheduler(_tasks) > 0
        except Exception:
            # Whatever the reason: it does not know them.
            return False


def _tasks(dask_scheduler) -> int:
    """The number of tasks that a scheduler knows."""
    return len(dask_scheduler.tasks)


def _upload(client) -> None:
    """Gives this package to the scheduler and to its workers, also those that join later: nothing has to be installed there but Dask."""
    folder = Path(__file__).parent
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, f"{folder.name}.zip")
        with zipfile.ZipFile(file, "w") as archive:
            for source in sorted(folder.glob("*.py")):
                archive.write(source, f"{folder.name}/{source.name}")
        client.upload_file(str(file))


def _batch_system(path: str, jobs: int | None):
    """A cluster whose workers a batch system starts, as a file says: `system`, `jobs` and the options of dask-jobqueue."""
    import dask_jobqueue
    document = Document(path)
    if document.root is None:
        raise Problem(f"`{path}` is empty", f"write `system: slurm`; there are {', '.join(SYSTEMS)}")
    entries = document.mapping(document.root, "a cluster")
    if "system" not in entries:
        raise document.problem(document.root, "the cluster has no `system`", f"write `system: slurm`; there are {', '.join(SYSTEMS)}")
    node = entries["system"][1]
    system = plain(node)
    if system not in SYSTEMS:
        raise document.problem(node, f"there is no batch system `{system}`", nearest(str(system), SYSTEMS))
    options = {name: plain(value) for name, (_, value) in entries.items()}
    del options["system"]
    wanted = jobs or options.pop("jobs", None)
    options.pop("jobs", None)
    if not isinstance(wanted, int) or wanted < 1:
        raise document.problem(document.root, "the number of jobs is not there", "add `jobs: 16`, or give it by `--jobs 16`")
    try:
        cluster = getattr(dask_jobqueue, SYSTEMS[system])(**options)
    except (TypeError, ValueError) as error:
        raise document.problem(document.root, f"dask-jobqueue does not take this: {error}",
                               "its documentation has the options of each system, as `cores`, `memory`, `queue`, `walltime`") from None
    cluster.scale(jobs=wanted)
    return cluster, wanted * int(options["cores"])
