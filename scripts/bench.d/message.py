"""How long a message takes from our standard input to the agent's.

The same line goes through the same named pipe to `cat`, which only copies it, and
to `cr-spawn --input stream`, which checks it, stores it for good and passes it on.
The time of one fsync of such a line is added to that of `cat`: nobody who promises
to keep a message can do without it.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

# Fewer than the messages that may wait: the agent answers none.
COUNT = 400
LIMIT = 10
AGENT = """#!/bin/sh
case $1 in
--version) echo '2.1.326 (Claude Code)' ;;
*) exec sleep 600 ;;
esac
"""


def pin(cpu):
    """A function that keeps a process on one processor, if there are several."""

    def set_processor():
        if len(os.sched_getaffinity(0)) > 1:
            os.sched_setaffinity(0, {cpu})

    return set_processor


def line(number):
    return json.dumps({"text": f"message {number}: go on with the next file"}).encode() + b"\n"


def through(writer, reader, number):
    """The seconds from a line written to the same line read."""
    text = line(number)
    start = time.perf_counter()
    os.write(writer, text)
    got = os.read(reader, 65536)
    while not got.endswith(b"\n"):
        got += os.read(reader, 65536)
    took = time.perf_counter() - start
    assert f"message {number}:".encode() in got, got
    return took


def stored(file, number):
    """The seconds to store a line for good."""
    text = line(number)
    start = time.perf_counter()
    file.write(text)
    os.fdatasync(file.fileno())
    return time.perf_counter() - start


def until(condition):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise TimeoutError


def start_cat(work):
    """A `cat` between two named pipes."""
    paths = [f"{work}/cat-in", f"{work}/cat-out"]
    for path in paths:
        os.mkfifo(path)
    command = f"exec cat <{paths[0]} >{paths[1]}"
    child = subprocess.Popen(["/bin/sh", "-c", command], preexec_fn=pin(1))
    writer = os.open(paths[0], os.O_WRONLY)
    return child, writer, os.open(paths[1], os.O_RDONLY)


def start_spawn(work, program):
    """A `cr-spawn` behind a named pipe, and the pipe that its agent reads."""
    agent, path, run = f"{work}/agent", f"{work}/spawn-in", f"{work}/run"
    with open(agent, "w") as out:
        out.write(AGENT)
    os.chmod(agent, 0o755)
    os.mkfifo(path)
    options = "--input stream --startup-timeout 0 --idle-timeout 0 --grace 1 --run-dir"
    options = [*options.split(), run, "--claude", agent]
    child = subprocess.Popen(
        ["/bin/sh", "-c", f'exec "$0" "$@" <{path}', program, *options],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "CR_STATE_DIR": f"{work}/state"},
        preexec_fn=pin(1),
    )
    writer = os.open(path, os.O_WRONLY)
    agent = until(lambda: agent_of(run))
    return child, writer, os.open(f"/proc/{agent}/fd/0", os.O_RDONLY)


def medians(work, program):
    """The medians of the three, measured in turn: the disk is slower at times."""
    cat, spawn = start_cat(work), start_spawn(work, program)
    measured = []
    try:
        with open(f"{work}/stored", "ab", buffering=0) as file:
            for number in range(COUNT):
                # The others wait again by then.
                time.sleep(0.002)
                row = [through(*cat[1:], number), stored(file, number)]
                time.sleep(0.002)
                measured.append([*row, through(*spawn[1:], number)])
    finally:
        for child, writer, reader in (cat, spawn):
            os.close(writer)
            os.close(reader)
            child.terminate()
            child.wait(LIMIT)
    return [statistics.median(column) for column in zip(*measured)]


def agent_of(run):
    """The agent's process id, once it runs."""
    try:
        with open(f"{run}/stream.ndjson") as stream:
            return json.loads(stream.readline())["agent_pid"]
    except (OSError, ValueError):
        return None


def bench(report, program, directory):
    """One table and its bar; `directory` is on a disk, where a sync costs something."""
    os.makedirs(directory, exist_ok=True)
    work = tempfile.mkdtemp(dir=directory)
    before = os.sched_getaffinity(0)
    try:
        pin(0)()
        cat, sync, ours = medians(work, program)
    finally:
        os.sched_setaffinity(0, before)
        shutil.rmtree(work)
    micro = lambda seconds: f"{seconds * 1e6:.0f} us"
    rows = [["cat", micro(cat)], ["one fsync", micro(sync)], ["**cr-spawn**", micro(ours)]]
    report.table(f"A message to the agent, median of {COUNT}", ["", "time"], rows)
    what = "a message to the agent's standard input, against cat and one fsync"
    report.table("Bars: messages", ["", "measured", "bar", ""], [report.bar(what, ours / (cat + sync), ("<=", 2), " x")])
