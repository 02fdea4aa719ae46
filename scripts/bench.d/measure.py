"""Clocks, memory and instructions of commands."""

import os
import re
import shutil
import subprocess
import time


def seconds(command, source=None):
    """Wall time of one run, its output thrown away."""
    with open(source or os.devnull, "rb") as stdin, open(os.devnull, "wb") as null:
        begun = time.perf_counter()
        subprocess.run(command, stdin=stdin, stdout=null, stderr=null)
        return time.perf_counter() - begun


def best(commands, rounds):
    """The best of each command's times; they take turns, so that a busy
    machine slows all of them alike. One that is soon done gets more turns a
    round: what disturbs it, lasts longer than it does."""
    times = {name: float("inf") for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            for _ in range(5 if times[name] < 0.5 else 1):
                times[name] = min(times[name], seconds(command))
    return times


def peak(command):
    """Peak memory of a run, in bytes.

    A child inherits the high-water mark of the process that forks it, and
    this one is larger than the tools; so time(1) forks, or else the mark is
    read while the tool runs.
    """
    with open(os.devnull, "wb") as null:
        if os.access("/usr/bin/time", os.X_OK):
            done = subprocess.run(
                ["/usr/bin/time", "-f", "%M", *command], stdout=null, stderr=subprocess.PIPE, text=True
            )
            return int(done.stderr.split()[-1]) * 1024
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        most = 0
        while child.poll() is None:
            try:
                with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
                    found = re.search(r"VmHWM:\s*(\d+)", status.read())
                    most = max(most, int(found.group(1)) if found else 0)
            except OSError:
                pass
        return most * 1024


def instructions(command):
    """Instructions of a run in user space, or None where nothing counts them."""
    if shutil.which("valgrind"):
        counting = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        done = subprocess.run([*counting, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        found = re.search(rb"Collected\s*:\s*(\d+)", done.stderr)
        if found:
            return int(found.group(1))
    if shutil.which("perf"):
        counting = ["perf", "stat", "-x,", "-e", "instructions:u"]
        done = subprocess.run([*counting, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        found = re.search(rb"^(\d+),", done.stderr, re.M)
        if found:
            return int(found.group(1))
    return None
