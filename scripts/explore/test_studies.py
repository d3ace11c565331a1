"""Tests of the results of explorations."""

import json
import shlex
import sqlite3
import subprocess
from pathlib import Path

import tools
from pushmem_explore.fronts import Front
from testing import SMALL, answer, counting, explore, refusal, request, scratch, space_file


def rows(folder: Path, what: str) -> list[tuple]:
    """Rows of the results of a study."""
    base = sqlite3.connect(folder / "study" / "results.sqlite")
    try:
        return base.execute(what).fetchall()
    finally:
        base.close()


def test_every_point_is_what_its_command_says(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        report = explore(pushmem, folder)
        assert (report["points"], report["done"] + report["refused"]) == (9, 9) and report["done"] and report["refused"], report
        points = rows(folder, "SELECT status, reason, figures, command FROM points")
        assert len(points) == 9
        for status, reason, figures, command in points:
            words = shlex.split(command)
            assert words[0] == "pushmem"
            done = subprocess.run([pushmem, *words[1:], "--json", "--message-format", "json"], cwd=folder / "study", capture_output=True,
                                  text=True)
            if status == "done":
                built = json.loads(done.stdout)
                told = json.loads(figures)
                assert all(told[name] == built[name] for name in report["objectives"]), f"{command}: {told}, {built}"
            else:
                assert (status, json.loads(done.stderr.splitlines()[0])["message"]) == ("refused", reason), command
        columns = [name for name, in rows(folder, "SELECT name FROM pragma_table_info('results')")]
        assert columns == ["program", "shift_register_threshold", "unroll.x", "cycles", "processing_elements", "sram_words", "status",
                           "reason", "command"], columns
        page = (folder / "study" / "index.html").read_text()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        assert len(data["points"]) == data["total"] == report["done"], data["total"]


def test_fronts_have_the_points_that_none_is_better_than(_) -> None:
    front = Front()
    for costs in [(3, 3), (1, 5), (2, 2), (5, 1), (2, 2), (2, 3), (1, 6)]:
        front.add(costs, {})
    assert sorted(costs for costs, _ in front.points) == [(1, 5), (2, 2), (5, 1)], front.points


def test_reports_of_the_front_are_there(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        report = explore(pushmem, folder, "--reports", "2")
        told = [point["report"] for point in report["fronts"][0]["points"] if point.get("report")]
        assert len(told) == min(2, len(report["fronts"][0]["points"])) and all((folder / "study" / path).is_file() for path in told), told


def test_arrays_and_fixed_memories_are_back_ends(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, """
objectives: [cycles, processing_elements, memory_tiles, images_per_second]
clock: 1000
specifications:
  array: {base: amber, keys: {tracks.word: [1, 5], tracks.bit: 1}}
""")
        report = explore(pushmem, folder, programs=["apps/gaussian.yaml", "apps/harris.yaml"])
        assert (report["points"], len(report["fronts"])) == (4, 2), report
        reasons = report["reasons"]
        assert any("tracks" in reason["reason"] and reason["where"] == {"array.tracks.word": [1]} for reason in reasons), reasons
        best = report["fronts"][0]["points"][0]["figures"]
        assert best["images_per_second"] == 1e9 / best["cycles"], best
        space_file(folder, "objectives: [cycles, made_words]\noptions: {memories: fixed}")
        fixed = explore(pushmem, folder)
        assert (fixed["points"], fixed["refused"]) == (1, 0) and fixed["fronts"][0]["points"][0]["figures"]["made_words"], fixed


def test_a_study_goes_on_and_others_use_its_results(pushmem: str) -> None:
    with scratch() as folder, scratch() as other:
        program = counting(pushmem, folder)
        space_file(folder, SMALL)
        builds = folder / "builds"
        assert answer(request(program, folder))["runs"] == 9 and len(builds.read_text().splitlines()) == 9
        first = rows(folder, "SELECT * FROM points")
        assert answer(request(program, folder))["runs"] == 0 and len(builds.read_text().splitlines()) == 9
        assert rows(folder, "SELECT * FROM points") == first
        # A larger space: only what is new is run.
        space_file(folder, SMALL.replace("[5, 20, 80]", "[5, 20, 80, 90]"))
        assert answer(request(program, folder))["runs"] == 3 and len(rows(folder, "SELECT * FROM points")) == 12
        # Another study has the results of this one.
        space_file(other, SMALL)
        reused = answer(request(program, other, reuse=[str(folder / "study")]))
        assert (reused["runs"], reused["reused_runs"]) == (0, 9) and rows(other, "SELECT * FROM points") == first, reused


def test_studies_that_cannot_be_used_are_refused(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        explore(pushmem, folder)
        assert "was made by" in answer(request(counting(pushmem, folder), folder))["message"]
        assert "is no study" in refusal(pushmem, folder, "--reuse", folder)["message"]
        file = folder / "study" / "results.sqlite"
        base = sqlite3.connect(file)
        base.execute("UPDATE study SET value = '0' WHERE name = 'format'")
        base.commit()
        base.close()
        assert "in the format 0, not 1" in refusal(pushmem, folder)["message"]
        file.write_text("this is no table, and long enough that it cannot be the beginning of one either")
        assert "cannot use" in refusal(pushmem, folder)["message"]
        (folder / "file").write_text("")
        assert "cannot write" in answer(request(pushmem, folder) | {"folder": str(folder / "file" / "study")})["message"]


def test_samplers_build_as_many_points_as_they_are_asked_for(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, "options: {shift-register-threshold: {from: 1, to: 40}}\nprogram: {unroll: {x: [1, 2, 4]}}")
        drawn = explore(pushmem, folder, "--sampler", "random", "--points", "7", "--seed", "3")
        assert drawn["points"] == 7 and len(rows(folder, "SELECT * FROM points")) == 7, drawn
        again = explore(pushmem, folder, "--sampler", "random", "--points", "7", "--seed", "3")
        assert again["runs"] == 0, again
        for name in ("tpe", "nsga2"):
            space_file(folder, """
objectives: [cycles, shift_register_words]
options: {shift-register-threshold: {from: 1, to: 200}, unbalanced: [true, false]}
program: {unroll: {x: [1, 2, 3, 4, 6]}}
where: [unroll.x < 5 or not unbalanced]
""")
            learned = explore(pushmem, folder, "--sampler", name, "--points", "30", programs=["apps/gaussian.yaml", "apps/unsharp.yaml"])
            assert learned["points"] == 60 and learned["done"] and learned["refused"], learned
            assert not rows(folder, """SELECT 1 FROM results WHERE "unroll.x" = 6 AND unbalanced = 1"""), name
        assert "needs a number of points" in refusal(pushmem, folder, "--sampler", "tpe")["message"]


def test_a_page_shows_any_text(pushmem: str) -> None:
    with scratch() as folder:
        program = folder / "</script><b>.yaml"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text((tools.ROOT / "apps" / "gaussian.yaml").read_text())
        space_file(folder, "options: {memories: fixed}")
        explore(pushmem, folder, programs=[str(program)])
        page = (folder / "study" / "index.html").read_text()
        assert page.count("</script>") == 2 and "<b>" not in page.split('id="data">')[0], page[:400]
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        assert data["programs"] == [str(program)], data["programs"]
