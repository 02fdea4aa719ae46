"""Session logs read into the ledger, against ccusage, which reads the same files.

How ccusage 20.0.24 counts, found by giving it logs of one or two lines (the
cases below are run again each time):

* A line counts if it has the bytes `"usage":{`, a time, and a `message` whose
  `usage` has input and output tokens. Its `type` does not matter.
* A line that says null for `id`, `model`, `cwd`, `version`, `sessionId`,
  `requestId`, `speed`, `costUSD` or a cache count is left out, at any depth.
* Lines of one message id and request id count once, in all files together: the
  line with the largest sum of tokens. A line with another request id is another
  message; but if one of the two is a subagent's (`isSidechain`), they are one, and
  the line that is not the subagent's counts. Without an id every line counts.
* Where the request id is missing, the time takes its place: lines of one message
  with two times are two messages.
* Subagents' files and `progress` lines count as the rest does; forks are copies.
* Cache writes are the sum of the nested `cache_creation`, if there is one.
* `<synthetic>` and lines without a model are in no model's sum.
* The fast mode is a model of its own, with `-fast` behind its name. What a model
  asked another one (`advisor_message`) counts for that one; here too.

Ours counts each pair of ids once, with the larger of each count, and
`cache_creation_input_tokens`, which is what is billed; side chains as ccusage
does. So the sums agree on logs that the CLI wrote, and differ for the messages in
`CASES`, for the reason there.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
import peers

HERE = Path(__file__).resolve().parent
MIB = 2**20
COUNTS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"]


def answer(message="m", request="r", output=10, usage=None, **fields):
    """A line of an answer."""
    used = {"input_tokens": 1, "output_tokens": output, "cache_read_input_tokens": 100}
    used |= {"cache_creation_input_tokens": 0} | (usage or {})
    line = {"type": "assistant", "isSidechain": False, "sessionId": "s", "version": "2.1.0", "uuid": "u"}
    line["message"] = {"id": message, "role": "assistant", "model": "claude-opus-4-5", "content": [], "usage": used}
    line["timestamp"] = "2026-01-01T00:00:00.000Z"
    if request:
        line["requestId"] = request
    return line | fields


def carried(line):
    """A subagent's line in the log of its session."""
    data = {"type": "agent_progress", "agentId": "a", "message": line}
    return {"type": "progress", "sessionId": "s", "timestamp": line["timestamp"], "data": data}


SPLIT = {"cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}}
NO_TIME = {key: value for key, value in answer().items() if key != "timestamp"}

# What, the lines of each file, and why the sums differ; an empty reason: they agree.
CASES = [
    ("lines of one message", [[answer(output=3), answer(output=50), answer(output=7)]], ""),
    ("a copy in another file", [[answer()], [answer(forkedFrom={"sessionId": "t"}, sessionId="f")]], ""),
    ("a subagent", [[answer()], [answer("n", "q", isSidechain=True)]], ""),
    ("a progress line alone", [[carried(answer())]], ""),
    ("an id with two requests", [[answer(), answer(request="q")]], ""),
    (
        "a progress line and the subagent's own file",
        [[carried(answer(output=3))], [answer(output=30, isSidechain=True)]],
        "ccusage keeps the first count, because the line in the log is not the subagent's",
    ),
    (
        "an answer repeated in a side chain with another request",
        [[answer(), answer(request="q", output=60, isSidechain=True)]],
        "",
    ),
    (
        "the same, the side chain first",
        [[answer(request="q", output=60, isSidechain=True)], [answer()]],
        "",
    ),
    (
        "two requests of side chains",
        [[answer(isSidechain=True), answer(request="q", output=60, isSidechain=True)]],
        "ccusage takes them for one; to us only the main thread's message stands for another request",
    ),
    (
        "counts that do not grow together",
        [[answer(output=10), answer(output=60, usage={"cache_read_input_tokens": 5})]],
        "ccusage takes one line, we take the larger of each count",
    ),
    (
        "cache writes that are not split",
        [[answer(usage={"cache_creation_input_tokens": 100} | SPLIT)]],
        "ccusage believes the empty split and not the total",
    ),
    ("blanks between keys", [[json.dumps(answer())]], "ccusage looks for bytes without blanks"),
    ("null for `speed`", [[answer(usage={"speed": None})]], "ccusage leaves the line out"),
    ("no time", [[NO_TIME]], "ccusage leaves the line out"),
    ("no id", [[answer(message=""), answer(message="")]], "ccusage leaves out an empty id; we take the line's own"),
    (
        "no request id, and two times",
        [[answer(request=None), answer(request=None, timestamp="2026-01-01T00:00:01.000Z")]],
        "ccusage takes the time for a request id; to us the lines are one message",
    ),
    ("the fast mode", [[answer(usage={"speed": "fast"})]], "ccusage gives it a name of its own; we a flag"),
]


def corpus(folder, size):
    """A directory with `size` bytes of session logs, made once."""
    path = folder / f"logs-{size // 10**6}MB"
    if not path.exists():
        part = path.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        make = [sys.executable, HERE / "session_logs.py", "--bytes", str(size), part]
        subprocess.run([str(word) for word in make], check=True)
        part.rename(path)
        print(f"bench: made {path}", file=sys.stderr)
    return path


def write_case(folder, files):
    for number, lines in enumerate(files):
        path = folder / "projects" / "p" / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def peer_command(program, logs, home):
    # With a home of its own it reads the logs of no other agent.
    settings = [f"CLAUDE_CONFIG_DIR={logs}", f"HOME={home}"]
    return ["env", *settings, program, "daily", "--json", "--offline"]


def peer_sums(program, logs, home):
    """Tokens by model, as ccusage counts them."""
    done = subprocess.run(peer_command(program, logs, home), capture_output=True, text=True)
    sums = {}
    for day in json.loads(done.stdout)["daily"]:
        for model in day["modelBreakdowns"]:
            before = sums.get(model["modelName"], [0] * len(COUNTS))
            sums[model["modelName"]] = [count + model[name] for count, name in zip(before, COUNTS)]
    return sums


def own_command(program, logs, state):
    return ["env", f"CR_STATE_DIR={state}", program, "import", str(logs / "projects")]


def fresh(state, command):
    """The command without the ledger of the run before."""
    return ["sh", "-c", 'rm -rf "$1" && shift && exec "$@"', "sh", str(state), *command]


def own_sums(program, logs, state):
    """Tokens by model, as the ledger has them."""
    subprocess.run(own_command(program, logs, state), stdout=subprocess.DEVNULL, check=True)
    query = """SELECT model, sum(input_tokens) AS i, sum(output_tokens) AS o,
        sum(cache_read_tokens) AS r, sum(cache_creation_tokens) AS c FROM messages GROUP BY model"""
    ask = ["env", f"CR_STATE_DIR={state}", program, "sql", query]
    done = subprocess.run(ask, capture_output=True, text=True, check=True)
    rows = (json.loads(line) for line in done.stdout.splitlines())
    return {row["model"]: [row[name] for name in "iorc"] for row in rows}


def show(sums):
    return "; ".join(" ".join([model, *map(str, counts)]) for model, counts in sorted(sums.items())) or "nothing"


def cases(report, peer, program, work):
    rows = []
    for number, (what, files, why) in enumerate(CASES):
        logs = work / str(number)
        write_case(logs, files)
        theirs, ours = peer_sums(peer, logs, work), own_sums(program, logs, logs / "state")
        if (theirs == ours) != (not why):
            report.missed.append(f"import: {what} is not counted as described")
        rows.append([what, show(theirs), show(ours), why or "the same"])
    report.table("Messages that are counted in two ways", ["", "ccusage", "ours", "why"], rows)


def bench(report, release, folder, options):
    """Time, memory and sums of one import."""
    peer = peers.ccusage()
    if not peer:
        report.write("\nleft out: ccusage cannot be had here")
        return
    logs = corpus(folder, 10**8 if options.quick else 10**9)
    program, name = str(release / "cr-ledger"), "cr-ledger import"
    with tempfile.TemporaryDirectory(dir=folder) as work:
        work = Path(work)
        state = work / "state"
        own = own_command(program, logs, state)
        theirs = f"ccusage {peers.CCUSAGE}"
        commands = {theirs: peer_command(peer, logs, work), name: fresh(state, own)}
        taken = measure.best(commands, options.rounds)
        most = {label: measure.peak(command) for label, command in commands.items()}
        again = f"{name}, again"
        taken |= measure.best({again: own}, options.rounds)
        most[again] = measure.peak(own)
        rows = [[label, f"{taken[label]:.3f} s", f"{most[label] / MIB:.0f} MiB"] for label in most]
        report.table("Session logs read", ["", "time", "peak memory"], rows)
        rows = [
            report.bar(f"{name}: faster than ccusage", taken[theirs] / taken[name], (">=", 1), " x"),
            report.bar(f"{name}: memory against ccusage", most[name] / most[theirs], ("<=", 0.5), " x"),
            report.bar(f"{again}: nothing has changed", taken[again], ("<=", 0.1), " s"),
        ]
        report.table("Bars of the import", ["", "measured", "bar", ""], rows)
        ours, peers_own = own_sums(program, logs, state), peer_sums(peer, logs, work)
        rows = []
        for model in sorted(ours.keys() | peers_own.keys()):
            pair = peers_own.get(model, [0] * 4), ours.get(model, [0] * 4)
            if pair[0] != pair[1]:
                report.missed.append(f"import: the same tokens of {model}")
            rows += [[f"{model}, ccusage", *pair[0]], [f"{model}, ours", *pair[1]]]
        report.table("Tokens", ["", "input", "output", "cache read", "cache creation"], rows)
        cases(report, peer, program, work)
