"""The page of a study: one file, which needs nothing else."""

import html
import json
import random
from pathlib import Path

from pushmem_explore.space import Space
from pushmem_explore.study import Study
from pushmem_explore.worker import DONE

# Points on the page; of more, those of the fronts and others at random.
MOST_POINTS = 20_000
TEMPLATE = Path(__file__).parent / "page.html"


def write(file: Path, study: Study, space: Space, best: dict[str, list[dict]], infeasible: list[dict]) -> None:
    """Writes the page."""
    data = _data(study, space, best, infeasible)
    # Text in a script must not end it.
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    title = html.escape(", ".join(Path(program).stem for program in data["programs"]) or "nothing")
    page = TEMPLATE.read_text().replace("{{title}}", title).replace("{{data}}", text)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(page)
    unfinished.replace(file)


def _data(study: Study, space: Space, best: dict[str, list[dict]], infeasible: list[dict]) -> dict:
    fronts = {(program, json.dumps(point["values"])): point for program, points in best.items() for point in points}
    kept, total = _sample(study, fronts)
    programs = sorted({row[0] for row in kept})
    figures = sorted({name for row in kept for name in row[5]})
    points = []
    for program, values, _, _, _, own, command in kept:
        of_front = fronts.get((program, json.dumps(values)))
        points.append({"p": programs.index(program), "v": list(values.values()), "f": [own.get(name) for name in figures],
                       "c": command, "best": of_front is not None, "r": of_front.get("report") if of_front else None})
    return {"programs": programs, "parameters": [{"name": parameter.name, "values": parameter.values} for parameter in space.parameters],
            "objectives": [{"name": objective.name, "text": objective.text, "unit": objective.unit, "maximize": objective.maximize}
                           for objective in space.objectives],
            "figures": figures, "points": points, "total": total, "infeasible": infeasible}


def _sample(study: Study, fronts: dict[tuple[str, str], dict]) -> tuple[list, int]:
    """The points to show, in their order, and how many there are."""
    chosen, others, total = [], [], 0
    draw = random.Random(1)
    room = max(MOST_POINTS - len(fronts), 0)
    for row in study.points(DONE):
        total += 1
        if (row[0], json.dumps(row[1])) in fronts:
            chosen.append(row)
        elif len(others) < room:
            others.append(row)
        elif room and (place := draw.randrange(total)) < room:
            others[place] = row
    return sorted(chosen + others, key=lambda row: (row[0], json.dumps(row[1]))), total
