"""Which points of a space are built, and in which order."""

import random
from collections.abc import Iterator

from pushmem_explore.points import Builder, Point
from pushmem_explore.problems import Problem
from pushmem_explore.worker import DONE

NAMES = ("full", "random", "tpe", "nsga2")
# Points that are drawn for one that fulfils the conditions.
DRAWS = 100_000


class Sampler:
    """All points of a space, or so many at random. It holds none of them."""

    def __init__(self, builder: Builder, name: str, most: int | None, seed: int):
        self.builder, self.space, self.most, self.seed = builder, builder.space, most, seed
        self.is_random = name == "random"
        # Points that were looked at, of all, for the time that is left.
        self.looked_at, self.size = 0, self.space.size * len(builder.programs)

    def points(self) -> Iterator[Point]:
        given = 0
        for number in shuffled(self.size, self.seed) if self.is_random else range(self.size):
            if given == self.most:
                return
            self.looked_at += 1
            # Programs change slowest.
            program, place = divmod(number, self.space.size)
            values = self.space.values(place)
            if self.space.admits(values):
                given += 1
                yield self.builder.point(self.builder.programs[program], values)
        if not given:
            raise no_point(self.space)

    @property
    def expected(self) -> int | None:
        """The number of points, as far as it is known."""
        return self.size if self.most is None else min(self.most, self.size)

    def told(self, point: Point, result: dict) -> None:
        """How a point ended, for samplers that learn from it."""


def no_point(space) -> Problem:
    """No point fulfils the conditions."""
    return space.document.problem(space.document.known(space.document.root, "a space", [key.value for key, _ in space.document.root.value])
                                  ["where"], "no point fulfils these conditions: the space is empty", "take one of them out")


def shuffled(size: int, seed: int) -> Iterator[int]:
    """The numbers below a size in a random order, each once, without a list of them: a Feistel network over the next even number of bits,
    of which larger numbers are passed over."""
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    keys = [random.Random(f"{seed} {place}").getrandbits(64) for place in range(6)]
    mask = (1 << half) - 1
    for number in range(1 << 2 * half):
        left, right = number >> half, number & mask
        for key in keys:
            mixed = (right + key) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
            left, right = right, left ^ ((mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9 >> 32 & mask)
        if (place := left << half | right) < size:
            yield place


class Learning(Sampler):
    """A sampler of Optuna: points near those that were good."""

    def __init__(self, builder: Builder, name: str, most: int | None, seed: int):
        super().__init__(builder, name, most, seed)
        try:
            import optuna
        except ImportError:
            raise Problem(f"the sampler `{name}` is Optuna's, which is not here", "install it by `scripts/setup --explore`, or by "
                          "`pip install optuna` into the Python of pushmem") from None
        if most is None:
            raise Problem(f"the sampler `{name}` needs a number of points", "give one, as `--points 200`")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        kinds = {"tpe": lambda: optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True),
                 "nsga2": lambda: optuna.samplers.NSGAIISampler(seed=seed)}
        self.optuna = optuna
        # What is good in one program need not be in another: each has a study of its own.
        self.studies = [optuna.create_study(directions=["minimize"] * len(self.space.objectives), sampler=kinds[name]())
                        for _ in builder.programs]
        self.trials: dict[tuple[str, str], list] = {}

    def points(self) -> Iterator[Point]:
        distribution = self.optuna.distributions.CategoricalDistribution
        places = {parameter.name: distribution(range(len(parameter.values))) for parameter in self.space.parameters}
        for _ in range(self.most):
            for program, study in zip(self.builder.programs, self.studies):
                trial, values = self._ask(study, places)
                point = self.builder.point(program, values)
                self.trials.setdefault((point.program, point.parameters), []).append((study, trial))
                self.looked_at += 1
                yield point

    def _ask(self, study, places: dict):
        """A trial that fulfils the conditions. Others fail at once."""
        for _ in range(DRAWS):
            trial = study.ask(places)
            values = {parameter.name: parameter.values[trial.params[parameter.name]] for parameter in self.space.parameters}
            if self.space.admits(values):
                return trial, values
            study.tell(trial, state=self.optuna.trial.TrialState.FAIL)
        raise no_point(self.space)

    @property
    def expected(self) -> int:
        return self.most * len(self.builder.programs)

    def told(self, point: Point, result: dict) -> None:
        costs = [objective.cost(result["figures"]) for objective in self.space.objectives]
        is_good = result["status"] == DONE and None not in costs
        for study, trial in self.trials.pop((point.program, point.parameters), ()):
            study.tell(trial, costs if is_good else None, state=None if is_good else self.optuna.trial.TrialState.FAIL)


def sampler(builder: Builder, name: str, most: int | None, seed: int) -> Sampler:
    """A sampler by its name."""
    kind = Learning if name in ("tpe", "nsga2") else Sampler
    return kind(builder, name, most, seed)
