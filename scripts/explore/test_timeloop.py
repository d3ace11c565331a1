"""Tests of problem files of Timeloop as programs."""

import itertools
import re
import subprocess

import numpy as np
from pushmem_explore import timeloop
from pushmem_explore.problems import Document, Problem
from testing import explore, scratch, space_file

# A convolution with strides, as the files of Timeloop have it.
CONVOLUTION = """problem:
  version: 0.4
  shape:
    name: CNN-Layer
    dimensions: [C, M, R, S, N, P, Q]
    coefficients:
    - {name: Wstride, default: 1}
    - {name: Hstride, default: 1}
    - {name: Wdilation, default: 1}
    - {name: Hdilation, default: 1}
    data_spaces:
    - name: Weights
      projection: [[[C]], [[M]], [[R]], [[S]]]
    - name: Inputs
      projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]
    - name: Outputs
      projection: [[[N]], [[M]], [[P]], [[Q]]]
      read_write: True
  instance: {C: 3, M: 2, R: 3, S: 2, N: 2, P: 4, Q: 5, Wstride: 2, Hstride: 1, Wdilation: 1, Hdilation: 2}
"""
# A product of matrices in the older spelling.
MATRICES = """problem:
  shape:
    name: gemm
    dimensions: [m, n, k]
    data-spaces:
    - {name: A, projection: [[[m]], [[k]]]}
    - {name: B, projection: [[[k]], [[n]]]}
    - {name: Z, projection: [[[m]], [[n]]], read-write: true}
  instance: {m: 6, n: 8, k: 5}
"""
REFUSED = [
    ("read_write: True", "read_write: False", "0 of 3 data spaces are written"),
    ("[[[C]], [[M]]", "[[[Z]], [[M]]", "`Z` is no dimension"),
    ("[[[C]], [[M]]", "[[[C, M]], [[M]]", "a product of 2 dimensions"),
    ("[[[N]], [[M]], [[P]], [[Q]]]", "[[[N]], [[M]], [[P], [R]], [[Q]]]", "is not one iteration"),
    ("C: 3, ", "", "`C` has no size"),
    ("Q: 5", "Q: 0", "`Q` has no size"),
    ("  instance: {", "  instances: {", "no `instance`"),
    ("- {name: Wstride, default: 1}", "- {default: 1}", "a coefficient has no `name`"),
]


def words(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(1).integers(-50, 50, shape).astype(np.int16)


def compare(pushmem: str, problem: str, reference) -> None:
    """Runs a problem and compares each element with what the reference says of the inputs."""
    with scratch() as folder:
        file = folder / "problem.yaml"
        file.write_text(problem)
        name, text = timeloop.loop_nest(Document(str(file)))
        program = folder / f"{name}.yaml"
        program.write_text(text)
        done = subprocess.run([pushmem, "build", program, "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        inputs, expected = reference()
        given = []
        for array, values in inputs.items():
            np.save(folder / f"{array}.npy", values)
            given += ["--input", f"{array}={folder / array}.npy"]
        done = subprocess.run([pushmem, "run", program, *given, "-o", folder / "out.npy"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(np.load(folder / "out.npy"), expected), name


def test_problems_compute_what_timeloop_says(pushmem: str) -> None:
    def convolution():
        weights, images = words((3, 2, 3, 2)), words((2, 3, 3 + 2 * 4 - 2, 2 * 2 + 5 - 2))
        outputs = np.zeros((2, 2, 4, 5), np.int16)
        for n, m, p, q, c, r, s in itertools.product(*map(range, (2, 2, 4, 5, 3, 3, 2))):
            outputs[n, m, p, q] += weights[c, m, r, s] * images[n, c, r + 2 * p, 2 * s + q]
        return {"Weights": weights, "Inputs": images}, outputs

    def matrices():
        a, b = words((6, 5)), words((5, 8))
        return {"A": a, "B": b}, a @ b

    compare(pushmem, CONVOLUTION, convolution)
    compare(pushmem, MATRICES, matrices)


def test_problems_that_are_wrong_are_refused(_) -> None:
    with scratch() as folder:
        file = folder / "problem.yaml"
        for text, other, message in REFUSED:
            assert text in CONVOLUTION, text
            file.write_text(CONVOLUTION.replace(text, other))
            try:
                timeloop.loop_nest(Document(str(file)))
            except Problem as problem:
                assert message in problem.message, f"{other}: {problem.message}"
            else:
                raise AssertionError(f"{other} is taken")


def test_problems_are_explored_as_programs(pushmem: str) -> None:
    with scratch() as folder:
        file = folder / "gemm.yaml"
        file.write_text(MATRICES)
        space_file(folder, "objectives: [cycles, multipliers]\nprogram: {constants: {n: [4, 8]}, unroll: {Z.n_: [1, 4]}}")
        report = explore(pushmem, folder, programs=[str(file)])
        assert (report["points"], report["done"]) == (4, 4), report
        cycles = [point["figures"]["cycles"] for point in report["fronts"][0]["points"]]
        assert len(set(cycles)) == len(cycles) > 1 and re.search(r"gemm_\w+\.yaml", report["fronts"][0]["points"][0]["command"]), report
