"""The points of which none is better in every objective, and the reasons why others cannot be built."""

import re
from dataclasses import dataclass, field

from pushmem_explore.space import Space
from pushmem_explore.study import Study
from pushmem_explore.worker import DONE

# Reasons of a study: those beyond are counted together.
MOST_REASONS = 50


class Front:
    """The best points of a program: for each, another one is worse in some objective."""

    def __init__(self):
        self.points: list[tuple[tuple[float, ...], dict]] = []

    def add(self, costs: tuple[float, ...], point: dict) -> None:
        """Takes a point, if none is as good in all objectives; those that it is as good as in all go."""
        if any(all(mine <= other for mine, other in zip(known, costs)) for known, _ in self.points):
            return
        self.points = [entry for entry in self.points if not all(new <= old for new, old in zip(costs, entry[0]))]
        self.points.append((costs, point))


def fronts(study: Study, space: Space) -> dict[str, list[dict]]:
    """The front of each program, by its first objective."""
    found: dict[str, Front] = {}
    for program, values, _, _, _, figures, command in study.points(DONE):
        costs = [objective.cost(figures) for objective in space.objectives]
        front = found.setdefault(program, Front())
        if None not in costs:
            front.add(tuple(costs), {"values": values, "figures": figures, "command": command})
    return {program: [point for _, point in sorted(front.points, key=lambda entry: entry[0])] for program, front in sorted(found.items())}


@dataclass
class Region:
    """The points that cannot be built for one reason, and the values that their parameters have."""

    status: str
    code: str | None
    # The words of the first of them.
    reason: str
    count: int = 0
    values: dict[str, set] = field(default_factory=dict)


def regions(study: Study, space: Space) -> list[Region]:
    """Regions without hardware, the largest first. Reasons that differ in numbers and names alone are one."""
    found: dict[tuple, Region] = {}
    for _, values, status, reason, code, _, _ in study.points():
        if status == DONE:
            continue
        key = (status, code, re.sub(r"`[^`]*`|\d[\d,.]*", "…", reason or "")) if len(found) < MOST_REASONS else ("more",)
        region = found.setdefault(key, Region(status, code, reason or "", values={name: set() for name in values}))
        region.count += 1
        for name, value in values.items():
            region.values[name].add(value)
    return sorted(found.values(), key=lambda region: (-region.count, region.reason))


def narrowed(region: Region, space: Space) -> dict[str, list]:
    """The parameters of which not all values are in a region, with those that are."""
    return {parameter.name: [value for value in parameter.values if value in region.values[parameter.name]]
            for parameter in space.parameters if len(region.values[parameter.name]) < len(set(parameter.values))}
