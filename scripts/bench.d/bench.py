#!/usr/bin/env python3
"""Measures the tools against their peers and against the bars; see scripts/bench."""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import import_logs
import ledger
import measure
import message
import peers
import runner

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target")
CORPORA = TARGET / "bench"
MIXES = ["tool", "partial"]
OWN_FLAGS = {"extract": ["--text"]}
MB = 10**6
MIB = 2**20


class Report:
    """The page: printed as it grows, and kept."""

    def __init__(self):
        self.lines = []
        self.missed = []

    def write(self, line=""):
        print(line, flush=True)
        self.lines.append(line)

    def table(self, title, header, rows):
        self.write(f"\n## {title}\n")
        self.write("| " + " | ".join(header) + " |")
        self.write("|---" + "|--:" * (len(header) - 1) + "|")
        for row in rows:
            self.write("| " + " | ".join(str(cell) for cell in row) + " |")

    def bar(self, what, value, limit, unit=""):
        """A row of the bars: `limit` is (">=" or "<=", number)."""
        sign, number = limit
        if value is None:
            return [what, "not measured", f"{sign} {number}{unit}", ""]
        met = value >= number if sign == ">=" else value <= number
        if not met:
            self.missed.append(what)
        return [what, f"{value:.2f}{unit}", f"{sign} {number}{unit}", "ok" if met else "MISS"]


def tool(name):
    return str(TARGET / "release" / name)


def size_of(path):
    return os.stat(path).st_size


def corpus(mix, size, worst=False):
    """The path of a generated transcript, made once."""
    path = CORPORA / f"{mix}-{size}{'-worst' if worst else ''}.ndjson"
    if path.exists():
        return str(path)
    CORPORA.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    if worst:
        make = [HERE / "worst.py", corpus(mix, size), part]
    else:
        make = [HERE / "gen.py", "--mix", mix, "--size", size, "--seed", "2", "-o", part]
    subprocess.run([sys.executable, *map(str, make)], check=True)
    part.rename(path)
    print(f"bench: made {path}, {size_of(path) / MB:.0f} MB", file=sys.stderr)
    return str(path)


def long_line(name):
    """A file of one long line between two short ones."""
    path = CORPORA / f"{name}.ndjson"
    if path.exists():
        return str(path)
    CORPORA.mkdir(parents=True, exist_ok=True)
    head = b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":'
    short = b'{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a text that is long enough"}]}}\n'
    with open(path, "wb") as out:
        out.write(short + head)
        if name == "line-1GiB":
            out.write(b'"')
            for _ in range(1024):
                out.write(b"x" * MIB)
            out.write(b'"')
        else:
            out.write(b"[")
            for _ in range(160):
                out.write(b'{"a":1},' * (MB // 8))
            out.write(b"{}]")
        out.write(b"}]}}\n" + short)
    return str(path)


def peer_commands(found, job, path):
    """The same job, done by each peer that has a script for it, on `path`."""
    flag = {"filter": "-rf", "summarize": "-nf", "extract": "-rsf"}[job]
    commands = {}
    for name, program in found.items():
        script = HERE / (f"{job}.mjs" if name == "node" else f"{job}.jq")
        if script.exists():
            flags = [] if name == "node" else [flag]
            commands[name] = [program, *flags, str(script), path]
    return commands


def times(report, found, job, corpora, rounds):
    """Times of the job on each corpus, by corpus and command; one table."""
    ours = f"cr-{job}"
    measured = {}
    for label, path in corpora.items():
        own = [tool(ours), *OWN_FLAGS.get(job, []), path]
        commands = {"cat": ["cat", path], "wc -l": ["wc", "-l", path], ours: own}
        commands.update(peer_commands(found, job, path))
        measured[label] = measure.best(commands, rounds)
    rows = []
    for name in next(iter(measured.values())):
        row = [f"**{name}**" if name == ours else name]
        for label in measured:
            own = measured[label][ours]
            row.append(f"{measured[label][name]:.4f} s ({measured[label][name] / own:.1f} x)")
        rows.append(row)
    report.table(f"The job of {ours}, best of {rounds}, interleaved", ["", *measured], rows)
    return measured


def same_rows(report, found, path):
    """Whether every peer shows as many lines of each kind as cr-filter does."""
    kinds = {}
    commands = {"cr-filter": [tool("cr-filter"), path], **peer_commands(found, "filter", path)}
    for name, command in commands.items():
        counts = {}
        for line in subprocess.run(command, capture_output=True).stdout.splitlines():
            kind = line.split(b" ")[1] if b" " in line else b""
            counts[kind] = counts.get(kind, 0) + 1
        kinds[name] = counts
    ours = kinds.pop("cr-filter")
    for name, counts in kinds.items():
        differ = [kind.decode() for kind in counts if counts[kind] != ours.get(kind)]
        if differ:
            report.write(f"\nnot the same job: {name} differs from cr-filter in {' '.join(differ)}")
            report.missed.append(f"the same job as {name}")


def same_summary(report, found, path):
    """Whether every peer counts the calls and the context that cr-summarize does."""
    done = subprocess.run([tool("cr-summarize"), path], capture_output=True)
    ours = json.loads(done.stdout)
    wanted = (ours["tool_calls"], ours["tokens"]["context_used"])
    for name, command in peer_commands(found, "summarize", path).items():
        theirs = json.loads(subprocess.run(command, capture_output=True).stdout)
        if (theirs["tool_calls"], theirs["context_used"]) != wanted:
            report.write(f"\nnot the same job: {name} differs from cr-summarize")
            report.missed.append(f"the same job as {name}")


def against(measured, label, ours, other):
    """How many times slower than ours a peer was, or None if it is not here."""
    names = [name for name in measured[label] if name.startswith(other)]
    return measured[label][names[-1]] / measured[label][ours] if names else None


def per_byte(job, mix):
    """Instructions a byte on a sample."""
    path = corpus(mix, "20MB")
    counted = measure.instructions([tool(f"cr-{job}"), path])
    return counted / size_of(path) if counted else None


def bench_filter(report, found, options):
    corpora = {mix: corpus(mix, options.size) for mix in MIXES}
    corpora.update({f"{mix}, worst order": corpus(mix, options.size, worst=True) for mix in MIXES})
    same_rows(report, found, corpus("tool", "20MB"))
    measured = times(report, found, "filter", corpora, options.rounds)
    rows = []
    bars = [("jq 1.6", 25, 60), ("jq 1.8", 20, 40), ("node", 25, 40), ("jaq", 9, 45)]
    for other, *limits in bars:
        for mix, limit in zip(MIXES, limits):
            ratio = against(measured, mix, "cr-filter", other)
            rows.append(report.bar(f"faster than {other}, {mix}", ratio, (">=", limit), " x"))
    for mix, limit in zip(MIXES, [1.5, 1.3]):
        ratio = measured[mix]["cr-filter"] / measured[mix]["wc -l"]
        rows.append(report.bar(f"against wc -l, {mix}", ratio, ("<=", limit), " x"))
    for mix, limit in zip(MIXES, [10, 9]):
        ratio = against(measured, f"{mix}, worst order", "cr-filter", "jq")
        rows.append(report.bar(f"faster than the newest jq, worst order, {mix}", ratio, (">=", limit), " x"))
    for mix, limit in zip(MIXES, [2.0, 1.1]):
        rows.append(report.bar(f"instructions a byte, {mix}", per_byte("filter", mix), ("<=", limit)))
    rows += memory(report, "filter", corpora)
    report.table("Bars of cr-filter", ["", "measured", "bar", ""], rows)


def bench_summarize(report, found, options):
    corpora = {mix: corpus(mix, options.size) for mix in MIXES}
    same_summary(report, found, corpus("tool", "20MB"))
    measured = times(report, found, "summarize", corpora, options.rounds)
    rows = []
    for mix, limit in zip(MIXES, [15, 40]):
        ratio = against(measured, mix, "cr-summarize", "jq")
        rows.append(report.bar(f"faster than the newest jq's `reduce`, {mix}", ratio, (">=", limit), " x"))
    for mix in MIXES:
        counted = per_byte("summarize", mix)
        rows.append([f"instructions a byte, {mix}", f"{counted:.2f}" if counted else "not measured", "", ""])
    rows += memory(report, "summarize", corpora)
    report.table("Bars of cr-summarize", ["", "measured", "bar", ""], rows)


def same_text(report, found, path):
    """Whether every peer finds the answer that cr-extract does."""
    ours = subprocess.run([tool("cr-extract"), "--text", path], capture_output=True).stdout
    for name, command in peer_commands(found, "extract", path).items():
        if subprocess.run(command, capture_output=True).stdout != ours:
            report.write(f"\nnot the same job: {name} differs from cr-extract")
            report.missed.append(f"the same job as {name}")


def bench_extract(report, found, options):
    """The size of a file must not matter: only its end is read."""
    sizes = [options.size, "1000MB"] if options.growth else [options.size]
    own = {f"{mix}, {size}": corpus(mix, size) for mix in MIXES for size in sizes}
    own = measure.best({label: [tool("cr-extract"), "--text", path] for label, path in own.items()}, 20)
    corpora = {mix: corpus(mix, options.size) for mix in MIXES}
    same_text(report, found, corpus("tool", "20MB"))
    measured = times(report, found, "extract", corpora, min(options.rounds, 3))
    rows = [report.bar(f"time, {label}", taken * 1000, ("<=", 5), " ms") for label, taken in own.items()]
    for mix in MIXES:
        ratio = against(measured, mix, "cr-extract", "jq")
        rows.append(report.bar(f"faster than the newest `jq -rs`, {mix}", ratio, (">=", 400), " x"))
        most = measure.peak([tool("cr-extract"), "--text", corpora[mix]]) / MIB
        rows.append(report.bar(f"peak memory, {mix}", most, ("<=", 8), " MiB"))
    report.table("Bars of cr-extract", ["", "measured", "bar", ""], rows)


def memory(report, job, corpora):
    """Rows of peak memory: on the corpora, and on lines longer than any run has."""
    rows = []
    for label, path in corpora.items():
        most = measure.peak([tool(f"cr-{job}"), path]) / MIB
        rows.append(report.bar(f"peak memory, {label}", most, ("<=", 8), " MiB"))
    for name in ["line-1GiB", "line-160MB-objects"]:
        most = measure.peak([tool(f"cr-{job}"), long_line(name)]) / MB
        rows.append(report.bar(f"peak memory, {name}", most, ("<=", 100), " MB"))
    return rows


def medians(task, *arguments):
    """Medians in microseconds by command, from cr-dev."""
    pinned = ["taskset", "-c", "0"] if task == "latency" and shutil.which("taskset") else []
    command = [*pinned, str(TARGET / "debug" / "cr-dev"), task, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"bench: {done.stderr.strip()}", file=sys.stderr)
        return {}
    lines = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {name: float(value) for value, name in lines}


def installed(name):
    """A copy of a tool, as scripts/install makes one: what the linker wrote page
    by page is slower to map than a file that was written in one go."""
    CORPORA.mkdir(parents=True, exist_ok=True)
    return shutil.copy(tool(name), CORPORA / name)


def bench_startup(report, found):
    tools = [str(installed(name)) for name in ["cr-filter", "cr-summarize", "cr-extract"]]
    others = [program if name == "node" else f"{program} ." for name, program in found.items()]
    names = dict(zip(others, found)) | {path: Path(path).name for path in tools}
    floor = "/bin/true"
    started = medians("startup", "--", floor, *tools, *others)
    rows = [[floor, f"{started[floor] / 1000:.2f} ms", "", ""]]
    for path in tools:
        ratio = started[path] / started[floor]
        rows.append(report.bar(f"start of {names[path]} against true", ratio, ("<=", 1.5), " x"))
    rows += [
        [f"start of {names[path]}", f"{started[path] / started[floor]:.1f} x", "", ""] for path in others
    ]

    line = CORPORA / "line.ndjson"
    line.parent.mkdir(parents=True, exist_ok=True)
    line.write_text(
        '{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text",'
        '"text":"a text that is long enough"}]},"session_id":"s"}\n'
    )
    filters = ["cat", tool("cr-filter")]
    filters += [f"{path} --unbuffered -rf {HERE}/filter.jq" for name, path in found.items() if "jq 1" in name]
    filters += [f"{path} {HERE}/filter.mjs" for name, path in found.items() if name == "node"]
    taken = medians("latency", "--line", str(line), "--", *filters)
    if taken:
        rows.append(["event to line through cat", f"{taken['cat']:.1f} µs", "", ""])
        ratio = taken[filters[1]] / taken["cat"]
        rows.append(report.bar("event to line, cr-filter against cat", ratio, ("<=", 1.5), " x"))
        for path in filters[2:]:
            name = next(name for name, program in found.items() if program == path.split()[0])
            rows.append([f"event to line, {name} against cat", f"{taken[path] / taken['cat']:.1f} x", "", ""])
    for path in tools[:2]:
        rows.append(report.bar(f"size of {names[path]}", size_of(path) / MB, ("<=", 1), " MB"))
    # Most of it is the validator of schemas.
    rows.append([f"size of {names[tools[2]]}", f"{size_of(tools[2]) / MB:.2f} MB", "", ""])
    report.table("Start, latency, size", ["", "measured", "bar", ""], rows)


def bench_growth(report):
    """Time and memory from 10 to 1000 MB."""
    sizes = ["10MB", "100MB", "1000MB"]
    rows = []
    for job in ["filter", "summarize"]:
        for mix in MIXES:
            paths = [corpus(mix, size) for size in sizes]
            commands = {path: [tool(f"cr-{job}"), path] for path in paths}
            taken = measure.best(commands, 5)
            rate = [taken[path] / size_of(path) * 1e9 for path in paths]
            most = [measure.peak(commands[path]) / MIB for path in paths]
            cells = [f"{value:.3f} s/GB, {mib:.1f} MiB" for value, mib in zip(rate, most)]
            rows.append([f"cr-{job}, {mix}", *cells])
    report.table("Growth", ["", *sizes], rows)


def main():
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("--quick", action="store_true", help="20 MB instead of 200, three rounds")
    parser.add_argument("--only", choices=["filter", "summarize", "extract", "startup", "runner", "message", "import", "ledger", "growth"])
    parser.add_argument("--growth", action="store_true", help="also 10 to 1000 MB (2 GB of files)")
    parser.add_argument("--rounds", type=int)
    options = parser.parse_args()
    options.size = "20MB" if options.quick else "200MB"
    options.rounds = options.rounds or (3 if options.quick else 5)

    with_peers = options.only in [None, "filter", "summarize", "extract", "startup"]
    found, missing = peers.all_of_them() if with_peers else ({}, [])
    report = Report()
    report.write(f"# Bench: {options.size}, {os.cpu_count()} cores, {platform.machine()}")
    if os.getloadavg()[0] > os.cpu_count() / 2:
        report.write(f"\nThe machine is busy (load {os.getloadavg()[0]:.1f}): times mean little now.")
    if options.only in [None, "filter"]:
        bench_filter(report, found, options)
    if options.only in [None, "summarize"]:
        bench_summarize(report, found, options)
    if options.only in [None, "extract"]:
        bench_extract(report, found, options)
    if options.only in [None, "startup"]:
        bench_startup(report, found)
    if options.only in [None, "runner"]:
        runner.bench(report, TOP, TARGET / "release", options.rounds)
    if options.only in [None, "message"]:
        message.bench(report, tool("cr-spawn"), CORPORA)
    if options.only in [None, "import"]:
        import_logs.bench(report, TARGET / "release", CORPORA, options)
    if options.only in [None, "ledger"]:
        ledger.bench(report, TARGET / "release", CORPORA, options.rounds)
    if options.growth or options.only == "growth":
        bench_growth(report)
    report.write()
    for name in missing:
        report.write(f"left out: {name} cannot be had here")
    report.write(f"{len(report.missed)} bars missed" + "".join(f"\n* {name}" for name in report.missed))
    TARGET.mkdir(exist_ok=True)
    (TARGET / "bench.md").write_text("\n".join(report.lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
