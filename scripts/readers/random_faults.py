#!/usr/bin/env python3
"""Prints faults of a few characters at random places of the passes, as JSON.

Usage: random_faults.py ROOT COUNT SEED

ROOT is the folder of the project. Faults are another comparison or operator, a number one larger or smaller, operands the other way
around, a condition without one of its parts, or the other of `min` and `max`, or `any` and `all`. No two are in one place.
"""

import json
import random
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import tree_sitter
import tree_sitter_rust

# What decides something in a compile. The files that a compile trusts are left out: docs/src/proven.md lists these.
PASSES = ["compile/assembly", "compile/buffers", "compile/compiler", "compile/datapaths", "compile/extraction", "compile/kernels",
          "compile/mapping", "compile/schedule", "compile/search", "compile/stages", "program/rewriting", "program/blocking",
          "program/parallelization", "dedicated/realization", "array/cells", "array/mapper", "array/placement", "array/routing",
          "array/selection", "array/starts"]
NEIGHBOURS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+"}
CONSTANT = {"const_item", "static_item", "array_type", "const_parameter", "type_arguments", "attribute_item", "inner_attribute_item",
            "match_pattern", "enum_variant", "const_block"}


@dataclass
class Place:
    """An expression of a file, by characters, and a fault in it."""

    file: str
    begin: int
    end: int
    line: int
    find: str
    replace: str
    # The smallest expression around it that stands once in its file, and what becomes of it.
    unique: tuple[str, str] | None


def faults_of(node, text: bytes) -> list[str]:
    """The faults of an expression."""
    def of(field: str) -> str:
        return text_of(node.child_by_field_name(field), text)

    if node.type == "binary_expression":
        left, operator, right = f"({of('left')})", of("operator"), f"({of('right')})"
        found = [f"{left} {NEIGHBOURS[operator]} {right}"] if operator in NEIGHBOURS else []
        if operator in ["-", "/", "%", "<", ">", "<=", ">="]:
            found.append(f"{right} {operator} {left}")
        if operator in ["&&", "||"]:
            found += [left, right]
        return found
    if node.type == "unary_expression" and text[node.start_byte:node.start_byte + 1] == b"!":
        return [f"({text_of(node.children[1], text)})"]
    if node.type == "integer_literal":
        if node.parent.type in ["field_expression", "tuple_struct_pattern", "tuple_pattern"]:
            return []
        digits = text_of(node, text)
        return [str(int(digits) + change) for change in [1, -1] if digits.isdigit() and int(digits) + change >= 0]
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        name = function.child_by_field_name("field") if function.type == "field_expression" else None
        other = {"min": "max", "max": "min", "any": "all", "all": "any"}.get(text_of(name, text)) if name else None
        if other:
            return [text_of(function.child_by_field_name("value"), text) + f".{other}" + of("arguments")]
    return []


def unique(node, replace: str, text: bytes) -> tuple[str, str] | None:
    """The smallest expression around another that stands once in the text, and what becomes of it with a fault."""
    around = node
    while around.type.endswith(("_expression", "literal", "arguments")):
        find = text[around.start_byte:around.end_byte]
        if text.count(find) == 1 and around.type != "arguments":
            return find.decode(), (find[:node.start_byte - around.start_byte] + replace.encode()
                                   + find[node.end_byte - around.start_byte:]).decode()
        around = around.parent
    return None


def text_of(node, text: bytes) -> str:
    """The text of a node."""
    return text[node.start_byte:node.end_byte].decode()


def is_test(node, text: bytes) -> bool:
    """Whether an item is compiled for tests only."""
    before = node.prev_named_sibling
    return before is not None and before.type == "attribute_item" and b"test" in text[before.start_byte:before.end_byte]


def places(root: Path, files: list[Path]) -> list[Place]:
    """All faults in files of Rust."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
    found = []
    for path in files:
        text = path.read_bytes()
        waiting = [parser.parse(text).root_node]
        while waiting:
            node = waiting.pop()
            constant = node.type == "function_item" and b"const fn" in text[node.start_byte:node.start_byte + 80]
            if node.type in CONSTANT or constant or is_test(node, text):
                continue
            file = str(path.relative_to(root))
            begin, find = len(text[:node.start_byte].decode()), text_of(node, text)
            found += [Place(file, begin, begin + len(find), node.start_point[0] + 1, find, replace, unique(node, replace, text))
                      for replace in faults_of(node, text)]
            waiting += node.named_children
    return found


def main() -> None:
    root, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    files = {crate: sorted((root / "generator" / crate / "src").rglob("*.rs")) for crate in PASSES}
    if missing := [crate for crate, paths in files.items() if not paths]:
        sys.exit(f"there is no {', '.join(missing)}")
    candidates = places(root, [path for paths in files.values() for path in paths])
    random.Random(seed).shuffle(candidates)
    chosen: list[Place] = []
    for one in candidates:
        if len(chosen) == count:
            break
        if not any(one.file == other.file and one.begin < other.end and other.begin < one.end for other in chosen):
            chosen.append(one)
    print(json.dumps([asdict(one) for one in chosen]))


if __name__ == "__main__":
    main()
