"""The results of an exploration in a SQLite file: runs by their keys, points by their parameters. One process writes it."""

import contextlib
import fcntl
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from pushmem_explore.objectives import joined
from pushmem_explore.points import Point, Run
from pushmem_explore.problems import Problem
from pushmem_explore.space import Space
from pushmem_explore.worker import DONE, FINAL

FILE = "results.sqlite"
# The version of the tables.
FORMAT = "1"
# So many seconds of results are lost at most where the machine stops.
COMMIT_SECONDS = 0.25
_TABLES = """
CREATE TABLE IF NOT EXISTS study(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs(key TEXT PRIMARY KEY, kind TEXT NOT NULL, command TEXT NOT NULL, status TEXT NOT NULL, reason TEXT,
    code TEXT, figures TEXT NOT NULL, seconds REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS points(program TEXT NOT NULL, parameters TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, code TEXT,
    figures TEXT NOT NULL, runs TEXT NOT NULL, command TEXT NOT NULL, PRIMARY KEY(program, parameters)) WITHOUT ROWID;
"""


class Study:
    """A study: the folder that it is in, and what is known."""

    def __init__(self, folder: Path, version: str, reused: list[str]):
        self.folder, self.version = folder, version
        self.reused_runs = 0
        self._lock(folder)
        file = folder / FILE
        try:
            self.base = sqlite3.connect(file, isolation_level=None)
            self._check(str(folder), self.base, "main")
            self.base.execute("PRAGMA journal_mode=WAL")
            self.base.execute("PRAGMA synchronous=NORMAL")
            self.base.executescript(_TABLES)
            self.base.executemany("INSERT OR IGNORE INTO study VALUES(?, ?)", [("format", FORMAT), ("version", version)])
        except sqlite3.DatabaseError as error:
            raise _unusable(file, error) from None
        self.others = [self._attach(number, other) for number, other in enumerate(reused)]
        self.begun = None

    def _lock(self, folder: Path) -> None:
        """One exploration at a time writes to a folder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.lock = open(folder / ".lock", "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Problem(f"another exploration writes `{folder}`", "wait for its end, or choose another folder") from None
        except OSError as error:
            raise Problem(f"cannot write `{folder}`: {error.strerror}", "choose another folder for `--folder`") from None

    def _check(self, folder: str, base: sqlite3.Connection, name: str) -> None:
        """Whether a file with results is of this version."""
        tables = {table for table, in base.execute(f"SELECT name FROM {name}.sqlite_master WHERE type = 'table'")}
        if not tables and name == "main":
            return
        told = dict(base.execute(f"SELECT name, value FROM {name}.study")) if "study" in tables else {}
        if told.get("format") != FORMAT:
            raise Problem(f"`{folder}` has results in the format {told.get('format', 'of another program')}, not {FORMAT}",
                          "choose another folder; results of another format are not read")
        if told.get("version") != self.version:
            raise Problem(f"the study in `{folder}` was made by {told.get('version')}, and this is {self.version}",
                          "choose another folder, or use that pushmem: figures of two versions are not compared")

    def _attach(self, number: int, folder: str) -> str:
        """Makes the results of another study known."""
        file, name = Path(folder, FILE), f"other_{number}"
        if not file.is_file():
            raise Problem(f"`{folder}` is no study: it has no `{FILE}`", "give the folder of a study to `--reuse`")
        try:
            self.base.execute("ATTACH DATABASE ? AS " + name, (f"{file.resolve().as_uri().removeprefix('file://')}",))
            self._check(folder, self.base, name)
        except sqlite3.DatabaseError as error:
            raise _unusable(file, error) from None
        return name

    def begin(self, space: Space) -> None:
        """Begins with a space. Points of another space are forgotten, and what is not final; all other runs stay known."""
        with self._full_disk():
            told = dict(self.base.execute("SELECT name, value FROM study"))
            if told.get("space") != space.document.text:
                self.base.execute("DELETE FROM points")
            final = ", ".join(f"'{status}'" for status in FINAL)
            self.base.execute(f"DELETE FROM points WHERE status NOT IN ({final})")
            self.base.execute(f"DELETE FROM runs WHERE status NOT IN ({final})")
            self.base.execute("INSERT OR REPLACE INTO study VALUES('space', ?)", (space.document.text,))
            self.base.execute("DROP VIEW IF EXISTS results")
            columns = [("parameters", parameter.name) for parameter in space.parameters]
            columns += [("figures", objective.name) for objective in space.objectives]
            shown = ", ".join(f"""json_extract({table}, '$."{name}"') AS "{name}" """ for table, name in columns)
            self.base.execute(f"CREATE VIEW results AS SELECT program, {shown}, status, reason, command FROM points")

    @contextlib.contextmanager
    def _full_disk(self):
        try:
            yield
        except sqlite3.OperationalError as error:
            full = error.sqlite_errorcode in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_WRITE)
            help_text = "make room there and give the same command again: it goes on with what is kept" if full else ""
            raise Problem(f"cannot write `{self.folder / FILE}`: {error}", help_text) from None

    def has(self, point: Point) -> bool:
        """Whether the results of a point are there, of the same runs."""
        identity = (point.program, point.parameters)
        row = self.base.execute("SELECT runs FROM points WHERE program = ? AND parameters = ?", identity).fetchone()
        return row is not None and row[0] == " ".join(run.key for run in point.runs)

    def known(self, run: Run) -> dict | None:
        """The result of a run, here or in a study whose results are reused."""
        columns = "status, reason, code, figures, seconds"
        for base in ["main", *self.others]:
            row = self.base.execute(f"SELECT {columns} FROM {base}.runs WHERE key = ?", (run.key,)).fetchone()
            if row and (base == "main" or row[0] in FINAL):
                result = dict(zip(columns.split(", "), row)) | {"figures": json.loads(row[3])}
                if base != "main":
                    self.reused_runs += 1
                    self.add_run(run, result)
                return result
        return None

    def add_run(self, run: Run, result: dict) -> None:
        """Keeps the result of a run, once."""
        self._write("INSERT OR IGNORE INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?)", (
            run.key, run.kind, run.command, result["status"], result["reason"], result["code"], json.dumps(result["figures"]),
            result["seconds"]))

    def add_point(self, point: Point, results: list[dict], clock: float | None) -> dict:
        """Keeps the result of a point, whose runs all are known."""
        worst = next((result for result in results if result["status"] != DONE), results[0])
        figures = joined([result["figures"] for result in results], clock)
        self._write("INSERT OR REPLACE INTO points VALUES(?, ?, ?, ?, ?, ?, ?, ?)", (
            point.program, point.parameters, worst["status"], worst["reason"], worst["code"], json.dumps(figures),
            " ".join(run.key for run in point.runs), point.runs[0].command))
        return {"status": worst["status"], "figures": figures}

    def _write(self, statement: str, values: tuple) -> None:
        with self._full_disk():
            if self.begun is None:
                self.base.execute("BEGIN")
                self.begun = time.monotonic()
            self.base.execute(statement, values)
            if time.monotonic() - self.begun > COMMIT_SECONDS:
                self.commit()

    def commit(self) -> None:
        """Makes what was added last."""
        if self.begun is not None:
            self.begun = None
            with self._full_disk():
                self.base.execute("COMMIT")

    def points(self, status: str | None = None) -> Iterator[tuple]:
        """Points in the order of their parameters: program, parameters, status, reason, code, figures, command."""
        where = "WHERE status = ?" if status else ""
        rows = self.base.execute(f"SELECT program, parameters, status, reason, code, figures, command FROM points {where} "
                                 "ORDER BY program, parameters", (status,) if status else ())
        return ((program, json.loads(parameters), status, reason, code, json.loads(figures), command)
                for program, parameters, status, reason, code, figures, command in rows)

    def close(self) -> None:
        """Keeps all, and lets others write."""
        self.commit()
        self.base.close()
        self.lock.close()


def _unusable(file: Path, error: Exception) -> Problem:
    return Problem(f"cannot use `{file}`: {error}", "choose another folder, or remove the file: its results are then gone")
