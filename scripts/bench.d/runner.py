"""The whole runner against a Node wrapper: time to run an agent that does
nothing, and memory while it does."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path


TOOLS = ["cr-spawn", "cr-git", "cr-filter", "cr-summarize", "cr-runs"]
INIT = '{"type":"system","subtype":"init","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","cwd":"/","model":"m"}'
RESULT = (
    '{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1,'
    '"session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","total_cost_usd":0,"usage":{}}'
)


def script(path, body):
    path.write_text("#!/bin/sh\n" + body, encoding="utf-8")
    path.chmod(0o755)


def place(work, top, programs):
    """An installation, a repository, and two agents: one that is done at once,
    one that waits for a word."""
    (work / "bin").mkdir()
    for name in TOOLS:
        (work / "bin" / name).symlink_to(programs / name)
    (work / "bin" / "claude-runner").symlink_to(top / "scripts" / "claude-runner")
    script(work / "idle", f"read -r _\necho '{INIT}'\necho '{RESULT}'\n")
    script(work / "held", f"read -r _\necho '{INIT}'\n: >'{work}/up'\nread -r _ <'{work}/go'\necho '{RESULT}'\n")
    os.mkfifo(work / "go")
    repository = work / "repository"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=b", "-c", "user.email=b@example.invalid"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    return repository


def proportional(pid):
    """The memory of a process, what it shares counted by its share."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            found = re.search(r"^Pss:\s*(\d+)", rollup.read(), re.M)
            return int(found.group(1)) * 1024 if found else 0
    except OSError:
        return 0


def family(pid):
    """A process and everything below it."""
    members = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text(encoding="ascii").split()
        except OSError:
            continue
        for child in children:
            members += family(int(child))
    return members


def held(command, work, environment):
    """The memory of everything but the agent while the agent is up."""
    (work / "up").unlink(missing_ok=True)
    environment = environment | {"CR_CLAUDE": str(work / "held")}
    null = subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=environment, cwd=work / "repository")
    while not (work / "up").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    total = 0
    for pid in family(child.pid):
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        if str(work / "held").encode() not in words.split(b"\0")[:2]:
            total += proportional(pid)
    (work / "go").write_text("on\n", encoding="ascii")
    child.wait()
    return total


def bench(report, top, programs, rounds):
    node = shutil.which("node")
    if not node:
        report.write("\nleft out: the whole runner against Node: no node")
        return
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        place(work, top, programs)
        environment = dict(os.environ) | {
            "CR_CLAUDE": str(work / "idle"),
            "CR_STATE_DIR": str(work / "state"),
            "IS_SANDBOX": "1",
        }
        commands = {
            "claude-runner": [str(work / "bin" / "claude-runner"), "go"],
            "node": [node, str(Path(__file__).resolve().parent / "runner.mjs"), "go"],
        }
        taken = {key: [] for key in commands}
        for _ in range(rounds * 6):
            for key, command in commands.items():
                begun = time.perf_counter()
                subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL, env=environment, cwd=work / "repository", check=True,
                )
                taken[key].append(time.perf_counter() - begun)
        # The best, as everywhere here: a busy machine slows twelve processes
        # more than two.
        times = {key: min(values) for key, values in taken.items()}
        memory = {key: held(command, work, environment) for key, command in commands.items()}
    rows = [[key, f"{times[key] * 1000:.1f} ms, {memory[key] / 2**20:.1f} MiB", "", ""] for key in commands]
    ratio = times["claude-runner"] / times["node"]
    rows.append(report.bar("time against node", ratio, ("<=", 0.25), " x"))
    ratio = memory["claude-runner"] / memory["node"]
    rows.append(report.bar("memory against node", ratio, ("<=", 0.2), " x"))
    report.table("The whole runner, with an agent that does nothing", ["", "measured", "bar", ""], rows)
