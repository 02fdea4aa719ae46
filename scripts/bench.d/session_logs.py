#!/usr/bin/env python3
"""Writes a directory of session logs as the CLI leaves them below ~/.claude/projects.

The lines of one message share its id, its request and its usage, and only the
last has the final output and a stop reason. Some sessions have subagents with
logs of their own, some are forks that begin with a copy of another one, some
have lines of the CLI itself: errors, attachments, the cost so far.
"""

import argparse
import json
from pathlib import Path

from gen import Gen, dumps

MODELS = ["claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001"]
VERSIONS = ["1.0.128", "2.0.14", "2.1.197"]
DAY = 86400


class Logs(Gen):
    """One session after the other."""

    def __init__(self, seed):
        super().__init__(seed, "session")
        self.clock = 0

    def begin(self, session, agent=None):
        self.session, self.agent, self.prev = session, agent, None
        if agent is None:
            self.model = self.random.choice(MODELS[:2])
            self.version = self.random.choice(VERSIONS)
            self.clock = 1760000000 + self.random.randrange(60 * DAY)

    def line(self, o):
        self.clock += 1
        days, rest = divmod(self.clock - 1760000000, DAY)
        base = {
            "parentUuid": self.prev,
            "isSidechain": self.agent is not None,
            "userType": "external",
            "cwd": f"/home/dev/project-{len(self.model) % 7}",
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
        }
        if self.agent:
            base["agentId"] = self.agent
        if "tool_use_result" in o:
            o["toolUseResult"] = o.pop("tool_use_result")
        base.update(o)
        self.prev = base["uuid"] = self.uuid()
        base["timestamp"] = (
            f"2026-0{1 + days // 28}-{1 + days % 28:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
            f".{self.random.randrange(1000):03d}Z"
        )
        return dumps(base) + "\n"

    def message(self, blocks):
        """An answer: a line for each block."""
        r = self.random
        written, output = r.randint(100, 9000), r.randint(20, 900)
        ids = {"model": self.model, "id": self.name("msg_"), "type": "message", "role": "assistant"}
        request = self.name("req_")
        cache = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
        usage = {
            "input_tokens": r.randint(1, 12),
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": r.randint(10000, 120000),
            "cache_creation": cache,
            "service_tier": "standard",
        }
        for number, block in enumerate(blocks, 1):
            is_last = number == len(blocks)
            stop = "tool_use" if is_last and self.version != "2.0.14" else None
            usage["output_tokens"] = output if is_last else r.randint(1, output)
            message = ids | {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
            yield self.line({"message": message, "requestId": request, "type": "assistant"})

    def turn(self):
        r = self.random
        call, content, structured, failed = self.tool()
        blocks = [call]
        if r.random() < 0.6:
            text = self.cut(self.prose, self.length(350, 1, 20, 8000)).strip() or "ok"
            blocks.insert(0, {"type": "text", "text": text})
        if r.random() < 0.35:
            thought = self.cut(self.prose, self.length(1200, 0.9, 100, 20000))
            blocks.insert(0, {"type": "thinking", "thinking": thought, "signature": self.b64[:500]})
        yield from self.message(blocks)
        yield self.user(call["id"], content, structured, failed)

    def prompt(self):
        return self.line({"type": "user", "message": {"role": "user", "content": "Please do the thing"}})

    def error(self):
        usage = {"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        content = [{"type": "text", "text": "API Error: Overloaded"}]
        message = {"id": self.uuid(), "model": "<synthetic>", "role": "assistant", "content": content, "usage": usage}
        return self.line({"type": "assistant", "message": message, "isApiErrorMessage": True})

    def attachment(self):
        return self.line({"type": "attachment", "attachment": {"type": "file", "content": self.cut(self.code, 4000)}})

    def total(self):
        models = {self.model: {"inputTokens": 10, "outputTokens": 20, "costUSD": 0.5}}
        state = {"type": "cost-state", "sessionId": self.session, "totalCostUSD": 0.5, "modelUsage": models}
        return dumps(state) + "\n"

    def thread(self, out, size):
        """Prompts and turns until `size` bytes; returns the bytes."""
        written = out.write(self.prompt().encode())
        while written < size:
            written += sum(out.write(line.encode()) for line in self.turn())
            chance = self.random.random()
            if chance < 0.05:
                written += out.write(self.prompt().encode())
            elif chance < 0.09:
                written += out.write(self.attachment().encode())
            elif chance < 0.1:
                written += out.write(self.error().encode())
        return written


def fork(source, target, session):
    """Copies the first half of a log as the beginning of another session."""
    lines = source.read_bytes().splitlines(keepends=True)
    with open(target, "wb") as out:
        for line in lines[: len(lines) // 2]:
            copy = json.loads(line)
            if "uuid" in copy:
                copy["forkedFrom"] = {"sessionId": copy["sessionId"], "messageUuid": copy["uuid"]}
            copy["sessionId"] = session
            out.write(dumps(copy).encode() + b"\n")
        return out.tell()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, required=True)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("directory", type=Path)
    options = parser.parse_args()
    logs, written = Logs(options.seed), 0
    while written < options.bytes:
        session = logs.uuid()
        folder = options.directory / "projects" / f"-home-dev-project-{logs.random.randrange(20)}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{session}.jsonl"
        logs.begin(session)
        with open(path, "wb", buffering=1 << 20) as out:
            written += logs.thread(out, logs.length(1_500_000, 1.2, 20_000, 30_000_000))
            written += out.write(logs.total().encode()) if logs.version == "2.1.197" else 0
        if logs.random.random() < 0.15:
            subagents = folder / session / "subagents"
            subagents.mkdir(parents=True)
            logs.begin(session, logs.name("a")[:17])
            logs.model = MODELS[2]
            with open(subagents / f"agent-{logs.agent}.jsonl", "wb", buffering=1 << 20) as out:
                written += logs.thread(out, 200_000)
        if logs.random.random() < 0.05:
            other = logs.uuid()
            written += fork(path, folder / f"{other}.jsonl", other)


if __name__ == "__main__":
    main()
