"""The texts of a point: its program and its specifications, with the values of the parameters in them."""

import functools
import hashlib
import re
from pathlib import Path

import yaml

from pushmem_explore import timeloop
from pushmem_explore.problems import Document, Problem, nearest
from pushmem_explore.space import SPECIFICATIONS, Parameter

_LOOP = re.compile(r"^(?P<indent> *)(?:- +)?for +(?P<variable>\w+) +in +.*?(?P<unroll> +unroll +[^:]+?)?:(?= *(?:#.*)?$)")
_STATEMENT = re.compile(r"^(?P<indent> *)- +(?P<array>\w+) *\[")
# The longest name of a specification, without the digest behind it.
_NAME_LENGTH = 30


def digest(*parts: str | bytes) -> str:
    """A digest of texts that no two lists of texts share."""
    state = hashlib.sha256()
    for part in parts:
        part = part.encode() if isinstance(part, str) else part
        state.update(len(part).to_bytes(8, "little") + part)
    return state.hexdigest()[:32]


class Program:
    """A program, whose lines parameters set."""

    def __init__(self, path: str):
        self.path, self.file = path, Path(path)
        try:
            self.content = self.file.read_bytes()
        except OSError as error:
            raise Problem(f"cannot read `{path}`: {error.strerror}", "check the name of the file") from None
        self.name = self.file.stem
        self.is_nest = self.file.suffix in (".yaml", ".yml")
        if self.is_nest and timeloop.is_problem(document := Document(path)):
            self.name, text = timeloop.loop_nest(document)
            self.content = text.encode()
        self.variant = functools.lru_cache(maxsize=1024)(self._variant)

    def with_values(self, settings: tuple[tuple[Parameter, object], ...]) -> tuple[str, bytes]:
        """The file of the program with these values, and what is in it."""
        kept = tuple((parameter.kind, parameter.target, value) for parameter, value in settings if value is not None)
        return self.variant(kept)

    def _variant(self, settings: tuple[tuple[str, str, object], ...]) -> tuple[str, bytes]:
        content = self.content
        if settings:
            if not self.is_nest:
                raise Problem(f"the lines of `{self.path}` cannot be set", "turn it into a loop nest by `pushmem import` first")
            text = content.decode()
            for kind, target, value in settings:
                text = {"constant": self._constant, "unroll": self._unroll, "schedule": self._schedule, "text": self._text}[kind](
                    text, target, value)
            content = text.encode()
        return f"programs/{self.name}_{digest(content)[:8]}{self.file.suffix}", content

    def _top(self, text: str) -> dict:
        node = yaml.compose(text, yaml.SafeLoader)
        return {key.value: value for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}

    def _constant(self, text: str, name: str, value) -> str:
        constants = self._top(text).get("constants")
        known = {key.value: node for key, node in constants.value} if isinstance(constants, yaml.MappingNode) else {}
        if name not in known:
            raise Problem(f"`{self.path}` has no constant `{name}`", nearest(name, known))
        node = known[name]
        return f"{text[:node.start_mark.index]}{value}{text[node.end_mark.index:]}"

    def _schedule(self, text: str, _, value) -> str:
        node = self._top(text).get("schedule")
        if node is None:
            return f"schedule: {value}\n{text}"
        return f"{text[:node.start_mark.index]}{value}{text[node.end_mark.index:]}"

    def _text(self, text: str, find: str, value) -> str:
        if text.count(find) != 1:
            raise Problem(f"`{find}` is {text.count(find)} times in `{self.path}`", "give a text that is there once")
        return text.replace(find, str(value))

    def _unroll(self, text: str, target: str, value) -> str:
        """Unrolls the loops of a variable: all of them, or for `output.x` those around statements that write `output`."""
        array, _, variable = target.rpartition(".")
        lines = text.split("\n")
        chosen, known = set(), set()
        around: list[tuple[int, int, str]] = []
        for number, line in enumerate(lines):
            loop, statement = _LOOP.match(line), _STATEMENT.match(line)
            if not loop and not statement:
                continue
            indent = len((loop or statement)["indent"])
            around = [entry for entry in around if entry[0] < indent]
            if loop:
                around.append((indent, number, loop["variable"]))
                known.add(loop["variable"])
                if not array and loop["variable"] == variable:
                    chosen.add(number)
            else:
                known |= {f"{statement['array']}.{name}" for _, _, name in around}
                chosen |= {place for _, place, name in around if name == variable and statement["array"] == array}
        if not chosen:
            raise Problem(f"`{self.path}` has no loop `{target}`", nearest(target, known))
        for number in chosen:
            line, loop = lines[number], _LOOP.match(lines[number])
            end = loop.end() - 1
            start = loop.start("unroll") if loop["unroll"] else end
            lines[number] = f"{line[:start]}{f' unroll {value}' if value != 1 else ''}{line[end:]}"
        return "\n".join(lines)


class Specifications:
    """Specifications by name, and their variants."""

    def __init__(self, shipped: dict[str, str]):
        # Of the files that are part of pushmem, by their paths in a project.
        self.shipped = shipped
        self.variant = functools.lru_cache(maxsize=1024)(self._variant)

    def text(self, kind: str, base: str) -> tuple[str, str]:
        """The name of a specification and its text: of a file, else of the working folder, else of pushmem."""
        folder = f"constraints/{SPECIFICATIONS[kind][0]}"
        for path in (Path(base), Path(folder, f"{base}.yaml")):
            if path.suffix and path.is_file():
                text = path.read_text()
                name = path.stem if path.parent == Path(folder) else f"{path.stem[:_NAME_LENGTH].rstrip('_')}_{digest(text)[:8]}"
                return name, text
        if (text := self.shipped.get(f"{folder}/{base}.yaml")) is not None:
            return base, text
        names = {Path(path).stem for path in self.shipped if Path(path).parent == Path(folder)}
        raise Problem(f"there is no file and no specification `{base}` for `{kind}`", nearest(base, names))

    def _variant(self, kind: str, base: str, settings: tuple[tuple[str, object], ...], names: tuple[tuple[str, str], ...]):
        """The name of a variant, and its text. `names` are the variants that it names itself."""
        name, text = self.text(kind, base)
        if not settings and not names:
            return name, text
        data = yaml.safe_load(text)
        for path, value in [*settings, *names]:
            _set(data, path.split("."), value, f"{kind}.{path}")
        data.pop("name", None)
        body = yaml.safe_dump(data, sort_keys=False, width=120)
        name = f"{name[:_NAME_LENGTH].rstrip('_')}_{digest(body)[:8]}"
        return name, f"name: {name}\n{body}"

    def files(self, kind: str, base: str, values: dict[str, tuple[tuple[str, object], ...]], bases: dict[str, str]):
        """The name of a specification of a kind with the values of its keys, and its files: of an array also the parts that it names."""
        files, names = {}, []
        if kind == "array":
            data = yaml.safe_load(self.text(kind, base)[1])
            memory = data.get("memory")
            parts = [("pe", "pe", data.get("pe")), ("array_register_file", "register_file", data.get("register_file")),
                     ("array_tile", "memory.tile", memory.get("tile") if isinstance(memory, dict) else None)]
            for part, path, own in parts:
                if part in bases or own is not None:
                    name, part_files = self.files(part, bases.get(part, own), values, bases)
                    files |= part_files
                    names += [(path, name)] if name != own else []
        name, text = self.variant(kind, base, values.get(kind, ()), tuple(names))
        files[f"constraints/{SPECIFICATIONS[kind][0]}/{name}.yaml"] = text
        return name, files


def _set(data: dict, path: list[str], value, named: str) -> None:
    """Sets a key of nested mappings; `null` leaves it out."""
    *outer, last = path
    for key in outer:
        data = data.setdefault(key, {})
        if not isinstance(data, dict):
            raise Problem(f"`{named}`: `{key}` of the specification is no mapping", "give the path of a key, as `controllers.all.levels`")
    if value is None:
        data.pop(last, None)
    else:
        data[last] = value
