"""Design points: the commands that build them, with the files that they read."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from pushmem_explore.problems import Problem
from pushmem_explore.sources import Program, Specifications, digest
from pushmem_explore.space import SPECIFICATIONS, Space

_OF_PROGRAM = ("constant", "unroll", "schedule", "text")
# Options that say nothing about memories that are made for the program, and about an array, which has its own: they are left out there.
OF_TILES = {"tile", "rom-tile", "global-buffer", "register-file"}
# The kind of specification that an option names.
_FOLDER_OF_OPTION = {option: kind for kind, (_, option) in SPECIFICATIONS.items() if option}


@dataclass(frozen=True)
class Run:
    """A run of `pushmem`. Its files are named within the folder that it runs in."""

    key: str
    # `build`, `synth` or `fpga`.
    kind: str
    arguments: tuple[str, ...]
    files: dict[str, str | bytes]

    @property
    def command(self) -> str:
        return shlex.join(["pushmem", *self.arguments])


@dataclass(frozen=True)
class Point:
    """A point: a program and the values of the parameters."""

    program: str
    values: dict
    runs: tuple[Run, ...]

    @property
    def parameters(self) -> str:
        return json.dumps(self.values)


class Builder:
    """Makes points of programs and values."""

    def __init__(self, space: Space, programs: list[Program], specifications: Specifications, version: str):
        self.space, self.programs, self.specifications, self.version = space, programs, specifications, version

    def point(self, program: Program, values: dict) -> Point:
        """The point of a program and the values of the parameters."""
        try:
            return self._point(program, values)
        except Problem as problem:
            raise self.placed(problem) from None

    def placed(self, problem: Problem) -> Problem:
        """A problem of a program or a specification, with the place where the space names the parameter that it is about."""
        about = [parameter for parameter in self.space.parameters if any(
            f"`{name}`" in problem.message for name in (parameter.target, parameter.name))]
        if problem.place or not about:
            return problem
        return self.space.document.problem(about[0].node, problem.message, problem.help)

    def _point(self, program: Program, values: dict) -> Point:
        settings = [(parameter, values[parameter.name]) for parameter in self.space.parameters]
        path, content = program.with_values(tuple(setting for setting in settings if setting[0].kind in _OF_PROGRAM))
        files: dict[str, str | bytes] = {path: content}
        keys: dict[str, tuple] = {}
        for parameter, value in settings:
            if parameter.kind == "key":
                kind, _, target = parameter.target.partition("/")
                keys[kind] = (*keys.get(kind, ()), (target, value))
        options = []
        given = {parameter.target: value for parameter, value in settings if parameter.kind == "option"}
        has_tiles = given.get("memories") != "fixed" and "array" not in self.space.bases and given.get("array") is None
        for kind, base in self.space.bases.items():
            option = SPECIFICATIONS[kind][1]
            if option and (has_tiles or option not in OF_TILES):
                name, more = self.specifications.files(kind, base, keys, self.space.bases)
                files |= more
                options += [f"--{option}", name]
        for parameter, value in settings:
            is_meant = has_tiles or parameter.target not in OF_TILES
            if parameter.kind == "option" and value is not None and value is not False and is_meant:
                options += self._option(parameter.target, value, files)
        return Point(program.path, values, tuple(self._runs(path, options, files)))

    def _option(self, name: str, value, files: dict) -> list[str]:
        """An option; specifications that it names become files of the point."""
        if value is True:
            return [f"--{name}"]
        if kind := _FOLDER_OF_OPTION.get(name):
            value, more = self.specifications.files(kind, str(value), {}, {})
            files |= more
        else:
            front, equals, back = str(value).rpartition("=")
            if Path(back).suffix and Path(back).is_file():
                value = f"{front}{equals}{Path(back).resolve()}"
                # Its content is part of the key of the point, and not written.
                files[f"/{name}"] = Path(back).read_bytes()
        return [f"--{name}", str(value)]

    def _runs(self, path: str, options: list[str], files: dict):
        yield self._run("build", ("build", path, *options), files)
        if self.space.synth is not None:
            more = [word for name, value in self.space.synth.items() if value is not False and value is not None
                    for word in ([f"--{name}"] if value is True else [f"--{name}", str(value)])]
            yield self._run("synth", ("synth", path, *options, *more), files)
        if self.space.fpga is not None:
            yield self._run("fpga", ("synth", path, *options, "--fpga", self.space.fpga), files)

    def _run(self, kind: str, arguments: tuple[str, ...], files: dict) -> Run:
        texts = [part for name, text in sorted(files.items()) for part in (name, text)]
        return Run(digest(self.version, kind, *arguments, *texts), kind, arguments, {
            name: text for name, text in files.items() if not name.startswith("/")})
