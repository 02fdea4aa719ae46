"""Reports over a ledger of a million messages, against the same sums from the
messages themselves, by the SQLite of Python."""

import subprocess
import sys

import measure

MESSAGES = 1_000_000
KEYS = ["day", "hour", "model", "project", "session", "milestone", "tool"]
QUERY = """
import sqlite3, sys
sums = "SELECT date(at / 1000, 'unixepoch', 'localtime'), count(*), sum(input), sum(output), \
sum(cache_read), sum(cache_creation), sum(cost_nano) FROM message GROUP BY 1"
for row in sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(sums):
    print(row)
"""


def filled(release, corpora):
    """The path of a ledger with messages, made once for each build that differs in
    its size: the schema may have changed."""
    fill = release / "examples" / "fill"
    path = corpora / f"ledger-{MESSAGES}-{fill.stat().st_size}.db"
    if not path.exists():
        corpora.mkdir(parents=True, exist_ok=True)
        for old in corpora.glob(f"ledger-{MESSAGES}-*"):
            old.unlink()
        part = path.with_suffix(".part")
        subprocess.run([fill, part, str(MESSAGES)], check=True)
        part.rename(path)
    return str(path)


def bench(report, release, corpora, rounds):
    path = filled(release, corpora)
    own = str(release / "cr-ledger")
    commands = {key: [own, "report", "--ledger", path, "--by", key] for key in KEYS}
    commands["messages"] = [sys.executable, "-c", QUERY, path]
    taken = measure.best(commands, rounds)
    rows = [report.bar("report --by day", taken["day"] * 1000, ("<=", 100), " ms")]
    for key in KEYS[1:]:
        rows.append([f"report --by {key}", f"{taken[key] * 1000:.0f} ms", "", ""])
    rows.append(["the days from the messages, by Python's SQLite", f"{taken['messages']:.2f} s", "", ""])
    ratio = taken["messages"] / taken["day"]
    rows.append(["report --by day faster than that", f"{ratio:.1f} x", "", ""])
    most = measure.peak(commands["day"]) / 2**20
    rows.append(report.bar("peak memory, report --by day", most, ("<=", 16), " MiB"))
    report.table(f"Reports of cr-ledger over {MESSAGES:,} messages", ["", "measured", "bar", ""], rows)
