"""Explores what a request on standard input asks for, as `pushmem explore` gives it; prints the report, or the problem, as JSON."""

import ctypes
import json
import signal
import sys

from pushmem_explore.problems import Problem

# From Linux's prctl.h: the signal that a process gets when the one that started it ends.
_PARENT_DEATH_SIGNAL = 1


def _end(*_) -> None:
    raise KeyboardInterrupt


def main() -> int:
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    request = json.load(sys.stdin)
    try:
        # After the signals are set: it takes a while.
        from pushmem_explore.explore import Exploration, text_of
        report = Exploration(request).run()
        answer = {"report": {"json": report, "text": text_of(report)}}
    except Problem as problem:
        answer = {"problem": problem.as_json()}
    except KeyboardInterrupt:
        answer = {"problem": Problem("interrupted", "the same command goes on with what is kept").as_json()}
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
