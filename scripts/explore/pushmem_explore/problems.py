"""What is wrong with an input, and the place in its file."""

import difflib
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass
class Problem(Exception):
    """Something that the user can put right."""

    message: str
    help: str = ""
    # The file, its text, and the bytes from the start to the end of the place, where there is one.
    place: tuple[str, str, int, int] | None = None

    def as_json(self) -> dict:
        return {"message": self.message, "help": self.help, "place": self.place}


def nearest(word: str, names) -> str:
    """A sentence with the name that is most like a word, and all names that there are."""
    names = sorted(names)
    near = difflib.get_close_matches(word, names, 1)
    did_you_mean = f"did you mean `{near[0]}`? " if near else ""
    return f"{did_you_mean}expected one of {', '.join(f'`{name}`' for name in names)}" if names else "there are none"


class Document:
    """A YAML file, whose nodes have places."""

    def __init__(self, path: str):
        self.path = path
        try:
            self.text = Path(path).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise Problem(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", "check the name of the file") from None
        try:
            self.root = yaml.compose(self.text, yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise Problem(f"this is no YAML: {error.problem}", "correct it here", self._place(mark.index, mark.index + 1)) from None
        except yaml.YAMLError as error:
            raise Problem(f"`{path}` is no YAML: {error}", "write it as plain text") from None

    def _place(self, start: int, end: int) -> tuple[str, str, int, int]:
        in_bytes = lambda index: len(self.text[:index].encode())
        return self.path, self.text, in_bytes(start), max(in_bytes(end), in_bytes(start))

    def problem(self, node, message: str, help_text: str) -> Problem:
        """A problem at a node."""
        start, end = node.start_mark.index, node.end_mark.index
        shown = self.text[start:end].split("\n", 1)[0].rstrip()
        return Problem(message, help_text, self._place(start, start + len(shown)))

    def mapping(self, node, what: str) -> dict:
        """The entries of a mapping: each key with the nodes of the key and of the value."""
        if not isinstance(node, yaml.MappingNode):
            raise self.problem(node, f"{what} is a mapping", "write `key: value` lines")
        entries = {}
        for key, value in node.value:
            name = str(plain(key))
            if name in entries:
                raise self.problem(key, f"`{name}` is there twice", "leave one out")
            entries[name] = (key, value)
        return entries

    def known(self, node, what: str, keys) -> dict:
        """The values of a mapping that has only these keys."""
        entries = self.mapping(node, what)
        for name, (key, _) in entries.items():
            if name not in keys:
                raise self.problem(key, f"unknown key `{name}`", nearest(name, keys))
        return {name: value for name, (_, value) in entries.items()}


def plain(node):
    """The value of a node."""
    return yaml.constructor.SafeConstructor().construct_document(node)
