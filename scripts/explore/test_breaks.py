"""Tests of explorations in which something breaks: nothing is lost, and nothing is there twice."""

import signal
import subprocess
import sys
import time

from test_studies import rows
from testing import SMALL, answer, counting, package, program_that, request, scratch, space_file

LARGER = SMALL.replace("[5, 20, 80]", "{from: 1, to: 12}")
POINTS = 36


def finished_builds(folder) -> list[str]:
    file = folder / "builds"
    return file.read_text().splitlines() if file.exists() else []


def test_an_exploration_that_is_killed_goes_on(pushmem: str) -> None:
    with scratch() as folder, scratch() as whole:
        space_file(folder, LARGER)
        space_file(whole, LARGER)
        program = counting(pushmem, folder, 0.05)
        answer(request(program, whole))
        (folder / "builds").unlink()
        for number in range(3):
            child = package(request(program, folder))
            until = time.monotonic() + 60
            while len(finished_builds(folder)) < 10 * (number + 1):
                assert child.poll() is None and time.monotonic() < until, child.stderr.read()
                time.sleep(0.02)
            # Results that were told are kept after the time of a commit, whatever the signal.
            time.sleep(0.3)
            child.send_signal([signal.SIGKILL, signal.SIGTERM, signal.SIGKILL][number])
            child.wait()
            # Runs that were on their way end by themselves.
            time.sleep(0.3)
        kept = rows(folder, "SELECT * FROM runs")
        assert kept, "nothing is kept"
        report = answer(request(program, folder))
        assert report["points"] == POINTS, report
        assert set(kept) <= set(rows(folder, "SELECT * FROM runs")), "a result that was kept is another one"
        same = "SELECT program, parameters, status, reason, figures FROM points"
        assert rows(folder, same) == rows(whole, same)
        # Only runs on their way, or within the time of a commit, are done again.
        builds = finished_builds(folder)
        assert len(set(builds)) == POINTS and len(builds) <= POINTS + 3 * 14, len(builds)


def test_runs_that_end_by_a_signal_are_tried_again(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        # Each first attempt is killed.
        once = program_that(folder, f"""case "$1" in build) [ "$2" = --help ] || {{
    tried='{folder}'/tried-$(echo "$*" | cksum | cut -d' ' -f1)
    [ -e "$tried" ] || {{ touch "$tried"; kill -9 $$; }}
}} ;; esac
exec '{pushmem}' "$@" """)
        report = answer(request(once, folder))
        assert (report["points"], report["failed"], report["runs"]) == (9, 0, 9), report
    with scratch() as folder:
        space_file(folder, SMALL)
        always = program_that(folder, f"""case "$1" in build) [ "$2" = --help ] || kill -9 $$ ;; esac\nexec '{pushmem}' "$@" """)
        report = answer(request(always, folder))
        assert report["failed"] == 9 and "ended by signal 9" in report["reasons"][0]["reason"], report
        # What was lost is tried anew.
        assert answer(request(always, folder))["runs"] == 9


def test_runs_have_limits(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, "options: {memories: fixed}")
        assert "64 MB at least" in answer(request(pushmem, folder, memory=0.1))["message"]
        # A program that needs 400 MB before pushmem runs.
        hungry = program_that(folder, f"""case "$1 $2" in
    "build --help") ;;
    build*) '{sys.executable}' -c 'bytearray(400_000_000)' || exit 1 ;;
esac
exec '{pushmem}' "$@" """)
        small = answer(request(hungry, folder, memory=0.4))
        assert (small["failed"], small["reasons"][0]["reason"]) == (1, "it needs more than 0.2 GB"), small
        large = answer(request(hungry, folder, memory=2))
        assert large["done"] == 1, large
    with scratch() as folder:
        space_file(folder, "options: {memories: fixed}")
        slow = program_that(folder, f"""case "$1" in build) [ "$2" = --help ] || sleep 987 ;; esac\nexec '{pushmem}' "$@" """)
        late = answer(request(slow, folder, timeout=0.2))
        assert (late["failed"], late["reasons"][0]["reason"]) == (1, "it takes longer than 0.2 s"), late
        left = subprocess.run(["pgrep", "-f", "^sleep 987$"], stdout=subprocess.PIPE, text=True).stdout
        assert not left, f"the run is still there: {left}"


def test_one_exploration_writes_a_folder(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, SMALL)
        program = counting(pushmem, folder, 0.3)
        child = package(request(program, folder))
        while not finished_builds(folder):
            assert child.poll() is None, child.stderr.read()
            time.sleep(0.02)
        assert "another exploration writes" in answer(request(program, folder))["message"]
        assert child.wait() == 0


def test_a_full_disk_loses_nothing(pushmem: str) -> None:
    with scratch() as folder:
        space_file(folder, LARGER)
        program = counting(pushmem, folder)
        # The study is on a disk of its own. Without the right to make one, this is tested where there is one: scripts/test runs as root.
        study = folder / "study"
        study.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", study], stderr=subprocess.DEVNULL).returncode:
            return
        try:
            full = answer(request(program, folder))
            assert "message" in full and "room" in full["help"] + full["message"] or "No space" in full["message"], full
            subprocess.run(["mount", "-o", "remount,size=64m", study], check=True)
            kept = rows(folder, "SELECT * FROM runs")
            report = answer(request(program, folder))
            assert report["points"] == POINTS and report["runs"] == POINTS - len(kept), report
            assert len(rows(folder, "SELECT * FROM points")) == POINTS
        finally:
            subprocess.run(["umount", study], check=True)


def long_test_of_100000_points(pushmem: str) -> None:
    """A hundred thousand points through a program that answers at once: the memory of the exploration does not grow with them."""
    peaks = []
    for points in (10_000, 100_000):
        with scratch() as folder:
            space_file(folder, f"objectives: [cycles, sram_words]\noptions: {{shift-register-threshold: {{from: 1, to: {points}}}}}")
            quick = program_that(folder, f"""case "$1 $2" in
    "build --help" | --version* | check*) exec '{pushmem}' "$@" ;;
esac
echo "{{\\"cycles\\": $#, \\"sram_words\\": 3, \\"of\\": \\"$*\\"}}" """)
            began = time.monotonic()
            child = package(request(quick, folder))
            while child.poll() is None:
                with open(f"/proc/{child.pid}/status") as status:
                    told = dict(line.split(":", 1) for line in status)
                if "VmHWM" in told:
                    peak = int(told["VmHWM"].split()[0])
                time.sleep(0.2)
            assert child.returncode == 0 and len(rows(folder, "SELECT 1 FROM points")) == points
            peaks.append(peak)
            print(f"        {points:,} points: {points / (time.monotonic() - began):.0f} a second, {peak / 1024:.0f} MB at most")
    assert peaks[1] < 1.5 * peaks[0] + 30_000, peaks
