#!/usr/bin/env python3
"""Writes a transcript of any size, the same for the same mix, size and seed.

tool         large tool results (200 B to 200 kB, log-normal) and a few lines of 5 MB, images
partial      --include-partial-messages: nearly all lines are stream events of 250 bytes
session      the agent's log on disk: its type is not the first key, and lines have times
adversarial  a short file of traps: key order, white space, escapes, nested and torn lines
"""

import argparse
import base64
import json
import math
import random
import sys


def dumps(o):
    return json.dumps(o, ensure_ascii=False, separators=(",", ":"))


WORDS = (
    "the function returns value const let async await import export default class struct impl match "
    "result error option config server client request response schema table index migration test assert "
    "token session buffer stream parse filter reduce map keyword route handler module package build cargo npm "
    "update fix refactor feature branch commit merge rebase release version path file line column offset"
).split()
UNI = [
    "→",
    "—",
    "“quoted”",
    "é",
    "naïve",
    "日本語のテキスト",
    "Привет",
    "✓",
    "✗",
    "│",
    "└──",
    "├──",
    "🚀",
    "🎉",
    "…",
    "€",
]


class Gen:
    def __init__(self, seed, mix):
        self.random = random.Random(seed)
        self.mix = mix
        r = self.random
        self.session = self.uuid()
        self.n = 0
        self.model = "claude-sonnet-4-5-20250929"
        # text pools: source code with line numbers (Read tool), shell output (ANSI), prose
        self.code = self.make_code(12000)
        self.shell = self.make_shell(12000)
        self.prose = self.make_prose(3000)
        # pool of base64
        self.b64 = base64.b64encode(r.randbytes(4 << 20)).decode()
        self.paths = [
            f"/home/dev/project/{r.choice(['src','lib','tests','plugins/m42','crates/core/src'])}/{r.choice(WORDS)}_{r.choice(WORDS)}{i}.{r.choice(['ts','rs','py','js','md'])}"
            for i in range(400)
        ]

    def uuid(self):
        x = self.random.getrandbits(128)
        h = f"{x:032x}"
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def name(self, p):
        A = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"
        x = self.random.getrandbits(132)
        out = []
        for _ in range(22):
            out.append(A[x % 61])
            x //= 61
        return p + "01" + "".join(out)

    def make_code(self, n):
        r = self.random
        out = []
        for i in range(n):
            ind = "    " * r.randint(0, 4) if r.random() < 0.8 else "\t" * r.randint(1, 3)
            k = r.random()
            w = [r.choice(WORDS) for _ in range(6)]
            if k < 0.12:
                body = ""
            elif k < 0.3:
                body = f'{w[0]} {w[1]} = "{w[2]} {w[3]}";'
            elif k < 0.45:
                body = f"if ({w[0]}.{w[1]} !== '{w[2]}') {{ {w[3]}({w[4]}, {r.randint(0,9999)}); }}"
            elif k < 0.55:
                body = f"console.log(`{w[0]}: ${{{w[1]}.{w[2]}}}\\n`);"
            elif k < 0.6:
                body = f"// {w[0]} {w[1]} {r.choice(UNI)} {w[2]} {w[3]} {w[4]} {w[5]}"
            elif k < 0.63:
                body = f'{{"type":"tool_use","name":"{w[0]}","input":{{"file_path":"C:\\\\{w[1]}\\\\{w[2]}"}}}}'  # nested JSON in text
            elif k < 0.66:
                body = f're = /^\\s*"{w[0]}"\\s*:\\s*\\[(\\d+)\\]$/'
            else:
                body = " ".join(w[: r.randint(2, 6)]) + r.choice([";", " {", "}", "(", ",", ""])
            out.append(f"{i%2000+1:6d}→{ind}{body}\n")
        return "".join(out)

    def make_shell(self, n):
        r = self.random
        out = []
        for i in range(n):
            k = r.random()
            w = [r.choice(WORDS) for _ in range(8)]
            if k < 0.2:
                out.append(f"\x1b[32m✓\x1b[0m {w[0]} {w[1]} \x1b[2m({r.randint(1,900)} ms)\x1b[0m\n")
            elif k < 0.4:
                out.append(
                    f"src/{w[0]}/{w[1]}.ts:{r.randint(1,999)}:{r.randint(1,80)} - error TS{r.randint(1000,9999)}: Type '{w[2]}' is not assignable to type \"{w[3]}\".\n"
                )
            elif k < 0.6:
                out.append(
                    f"drwxr-xr-x  {r.randint(1,9)} dev dev {r.randint(100,99999):6d} Jan {r.randint(1,28):2d} 12:{r.randint(10,59)} {w[0]}-{w[1]}\n"
                )
            elif k < 0.7:
                out.append(f"{r.choice(UNI)} {w[0]} {w[1]} {w[2]}\t{w[3]}\n")
            else:
                out.append(" ".join(w) + "\n")
        return "".join(out)

    def make_prose(self, n):
        r = self.random
        out = []
        for i in range(n):
            t = " ".join(r.choice(WORDS) for _ in range(r.randint(5, 18)))
            if r.random() < 0.2:
                t += " " + r.choice(UNI)
            if r.random() < 0.2:
                t += f' "{r.choice(WORDS)}"'
            if r.random() < 0.15:
                t = f"`{t[:20]}` " + t
            out.append(t.capitalize() + (".\n\n" if r.random() < 0.2 else ". "))
        return "".join(out)

    def cut(self, pool, n):
        n = min(n, len(pool) - 1)
        o = self.random.randrange(len(pool) - n)
        return pool[o : o + n]

    def length(self, med=3000, sig=1.6, lo=200, hi=200_000):
        return int(max(lo, min(hi, self.random.lognormvariate(math.log(med), sig))))

    def usage(self, out=None):
        r = self.random
        return {
            "input_tokens": r.randint(1, 12),
            "cache_creation_input_tokens": r.randint(100, 9000),
            "cache_read_input_tokens": r.randint(10000, 120000),
            "cache_creation": {
                "ephemeral_5m_input_tokens": r.randint(100, 9000),
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": out if out is not None else r.randint(1, 900),
            "service_tier": "standard",
        }

    def line(self, o):
        if self.mix == "session":
            self.n += 1
            sec = self.n * 3
            p = getattr(self, "prev", None)
            u = self.uuid()
            self.prev = u
            base = {
                "parentUuid": p,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/dev/project",
                "sessionId": self.session,
                "version": "2.0.14",
                "gitBranch": "main",
            }
            if "tool_use_result" in o:
                o["toolUseResult"] = o.pop("tool_use_result")
            if o["type"] == "assistant":
                base.update({"message": o["message"], "requestId": self.name("req_"), "type": "assistant"})
            else:
                base.update(o)
            base.update(
                {
                    "uuid": u,
                    "timestamp": f"2026-0{1+(sec//2592000)%9}-{1+(sec//86400)%28:02d}T{(sec//3600)%24:02d}:{(sec//60)%60:02d}:{sec%60:02d}.{self.random.randint(0,999):03d}Z",
                }
            )
            return dumps(base) + "\n"
        o["parent_tool_use_id"] = None
        o["session_id"] = self.session
        o["uuid"] = self.uuid()
        return dumps(o) + "\n"

    def init(self):
        return (
            dumps(
                {
                    "type": "system",
                    "subtype": "init",
                    "cwd": "/home/dev/project",
                    "session_id": self.session,
                    "tools": [
                        "Task",
                        "Bash",
                        "Glob",
                        "Grep",
                        "ExitPlanMode",
                        "Read",
                        "Edit",
                        "Write",
                        "NotebookEdit",
                        "WebFetch",
                        "TodoWrite",
                        "WebSearch",
                        "BashOutput",
                        "KillShell",
                        "SlashCommand",
                    ],
                    "mcp_servers": [{"name": "context7", "status": "connected"}],
                    "model": self.model,
                    "permissionMode": "bypassPermissions",
                    "slash_commands": [
                        "compact",
                        "context",
                        "cost",
                        "init",
                        "pr-comments",
                        "release-notes",
                        "review",
                        "security-review",
                    ],
                    "apiKeySource": "none",
                    "claude_code_version": "2.0.14",
                    "output_style": "default",
                    "agents": ["general-purpose", "statusline-setup"],
                    "skills": [],
                    "plugins": [],
                    "uuid": self.uuid(),
                }
            )
            + "\n"
        )

    def assistant(self, block, mid=None):
        return self.line(
            {
                "type": "assistant",
                "message": {
                    "model": self.model,
                    "id": mid or self.name("msg_"),
                    "type": "message",
                    "role": "assistant",
                    "content": [block],
                    "stop_reason": None,
                    "stop_sequence": None,
                    "usage": self.usage(),
                    "context_management": None,
                },
            }
        )

    def user(self, tid, content, tur=None, err=False):
        b = {"tool_use_id": tid, "type": "tool_result", "content": content}
        if err:
            b["is_error"] = True
        o = {"type": "user", "message": {"role": "user", "content": [b]}}
        if tur is not None:
            o["tool_use_result"] = tur
        return self.line(o)

    def tool(self):
        """-> (block, result_content, tool_use_result, is_error)"""
        r = self.random
        k = r.random()
        tid = self.name("toolu_")
        P = r.choice(self.paths)

        def b(name, inp):
            return {"type": "tool_use", "id": tid, "name": name, "input": inp}

        if k < 0.32:
            c = self.cut(self.code, self.length())
            inp = {"file_path": P}
            if r.random() < 0.3:
                inp.update(offset=r.randint(1, 500), limit=200)
            return (
                b("Read", inp),
                c,
                {
                    "type": "text",
                    "file": {
                        "filePath": P,
                        "content": c,
                        "numLines": c.count("\n"),
                        "startLine": 1,
                        "totalLines": 2000,
                    },
                },
                False,
            )
        if k < 0.47:
            o, n = self.cut(self.code, self.length(300, 1, 40, 4000)), self.cut(
                self.code, self.length(400, 1, 40, 6000)
            )
            c = (
                f"The file {P} has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n"
                + self.cut(self.code, self.length(800, 0.7))
            )
            return (
                b("Edit", {"file_path": P, "old_string": o, "new_string": n}),
                c,
                {
                    "filePath": P,
                    "oldString": o,
                    "newString": n,
                    "structuredPatch": [
                        {
                            "oldStart": 1,
                            "oldLines": 9,
                            "newStart": 1,
                            "newLines": 12,
                            "lines": o.split("\n")[:20],
                        }
                    ],
                    "userModified": False,
                    "replaceAll": False,
                },
                False,
            )
        if k < 0.53:
            c = self.cut(self.code, self.length(3000, 1.1, 200, 60000))
            return (
                b("Write", {"file_path": P, "content": c}),
                f"File created successfully at: {P}",
                {"type": "create", "filePath": P, "content": c, "structuredPatch": []},
                False,
            )
        if k < 0.57:
            m = f"{r.choice(['feat','fix','refactor','test','docs'])}: {r.choice(WORDS)} {r.choice(WORDS)} {r.choice(WORDS)}"
            sha = f"{r.getrandbits(28):07x}"
            c = f"[main {sha}] {m}\n {r.randint(1,9)} files changed, {r.randint(1,400)} insertions(+), {r.randint(1,90)} deletions(-)"
            return (
                b(
                    "Bash",
                    {
                        "command": f"git add -A && git commit -m \"$(cat <<'EOF'\n{m}\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)\nEOF\n)\"",
                        "description": "Commit changes",
                    },
                ),
                c,
                {"stdout": c, "stderr": "", "interrupted": False, "isImage": False},
                False,
            )
        if k < 0.77:
            cmd = r.choice(
                [
                    'npm test -- --grep "keywords"',
                    "cargo test --workspace 2>&1 | tail -50",
                    "ls -la src/",
                    "npx tsc --noEmit",
                    "git status --porcelain",
                    "python3 -c \"\nimport json\nprint(json.dumps({'a': 1}))\n\"",
                    'for f in $(git ls-files \'*.ts\'); do grep -n "keyword route handler" "$f" | head -20; done && echo done',
                ]
            )
            err = r.random() < 0.12
            c = self.cut(self.shell, self.length())
            return (
                b("Bash", {"command": cmd, "description": "Run " + r.choice(WORDS)}),
                c,
                (
                    "Error: " + c
                    if err
                    else {"stdout": c, "stderr": "", "interrupted": False, "isImage": False}
                ),
                err,
            )
        if k < 0.87:
            c = self.cut(self.shell, self.length(1200, 1.2))
            return (
                b(
                    "Grep",
                    {
                        "pattern": f'{r.choice(WORDS)}\\s+"{r.choice(WORDS)}"',
                        "path": "/home/dev/project/src",
                        "output_mode": "content",
                        "-n": True,
                    },
                ),
                c,
                {"mode": "content", "numFiles": 0, "filenames": [], "content": c, "numLines": c.count("\n")},
                False,
            )
        if k < 0.92:
            f = [r.choice(self.paths) for _ in range(r.randint(1, 60))]
            return (
                b("Glob", {"pattern": f"**/*.{r.choice(['ts','rs','py'])}"}),
                "\n".join(f),
                {"filenames": f, "durationMs": 12, "numFiles": len(f), "truncated": False},
                False,
            )
        if k < 0.97:
            t = [
                {
                    "content": f"{r.choice(WORDS)} {r.choice(WORDS)}",
                    "status": r.choice(["pending", "in_progress", "completed"]),
                    "activeForm": "Doing " + r.choice(WORDS),
                }
                for _ in range(r.randint(2, 8))
            ]
            return (
                b("TodoWrite", {"todos": t}),
                "Todos have been modified successfully.",
                {"oldTodos": [], "newTodos": t},
                False,
            )
        d = f"{r.choice(WORDS)} {r.choice(WORDS)} {r.choice(WORDS)}"
        c = self.cut(self.prose, self.length(2500, 1))
        return (
            b(
                "Task",
                {
                    "description": d,
                    "prompt": self.cut(self.prose, self.length(1500, 0.8)),
                    "subagent_type": "general-purpose",
                },
            ),
            [{"type": "text", "text": c}],
            {
                "status": "completed",
                "prompt": "x",
                "content": [{"type": "text", "text": c}],
                "totalDurationMs": 1234,
                "totalTokens": 4321,
                "totalToolUseCount": 5,
                "usage": self.usage(),
            },
            False,
        )

    def image(self):
        tid = self.name("toolu_")
        P = "/home/dev/project/shot.png"
        d = self.b64[: self.random.randint(3_500_000, 5_300_000)]
        blk = {"type": "tool_use", "id": tid, "name": "Read", "input": {"file_path": P}}
        return self.assistant(blk) + self.user(
            tid, [{"type": "image", "source": {"type": "base64", "data": d, "media_type": "image/png"}}]
        )

    def deltas(self, kind, text, idx):
        """stream_event lines for one block; hand-formatted for speed but same shape as the real thing"""
        r = self.random
        out = []
        tail0 = f',"session_id":"{self.session}","parent_tool_use_id":null,"uuid":"'
        i = 0
        L = len(text)
        dk, fk = {
            "text": ("text_delta", "text"),
            "thinking": ("thinking_delta", "thinking"),
            "tool": ("input_json_delta", "partial_json"),
        }[kind]
        while i < L:
            n = r.randint(2, 14)
            t = text[i : i + n]
            i += n
            x = f"{r.getrandbits(128):032x}"
            out.append(
                f'{{"type":"stream_event","event":{{"type":"content_block_delta","index":{idx},"delta":{{"type":"{dk}","{fk}":{json.dumps(t, ensure_ascii=False)}}}}}{tail0}{x[:8]}-{x[8:12]}-{x[12:16]}-{x[16:20]}-{x[20:]}"}}\n'
            )
        return "".join(out)

    def stream_event(self, ev):
        return self.line({"type": "stream_event", "event": ev})

    def turn(self):
        r = self.random
        out = []
        partial = self.mix == "partial"
        mid = self.name("msg_")
        idx = 0
        if partial:
            out.append(
                self.stream_event(
                    {
                        "type": "message_start",
                        "message": {
                            "model": self.model,
                            "id": mid,
                            "type": "message",
                            "role": "assistant",
                            "content": [],
                            "stop_reason": None,
                            "stop_sequence": None,
                            "usage": self.usage(1),
                        },
                    }
                )
            )
        blocks = []
        if r.random() < 0.35:
            blocks.append(
                (
                    {
                        "type": "thinking",
                        "thinking": self.cut(self.prose, self.length(1200, 0.9, 100, 20000)),
                        "signature": self.b64[(o := r.randrange(1 << 20)) : o + r.randint(200, 900)],
                    },
                    "thinking",
                )
            )
        if r.random() < 0.6:
            blocks.append(
                (
                    {
                        "type": "text",
                        "text": self.cut(self.prose, self.length(350, 1, 20, 8000)).strip() or "ok",
                    },
                    "text",
                )
            )
        t = self.tool()
        blocks.append((t[0], "tool"))
        for blk, kind in blocks:
            if partial:
                out.append(
                    self.stream_event(
                        {"type": "content_block_start", "index": idx, "content_block": {"type": blk["type"]}}
                    )
                )
                txt = blk.get("text") or blk.get("thinking") or dumps(blk["input"])
                out.append(self.deltas(kind, txt, idx))
            out.append(self.assistant(blk, mid))
            if partial:
                out.append(self.stream_event({"type": "content_block_stop", "index": idx}))
            idx += 1
        if partial:
            out.append(
                self.stream_event(
                    {
                        "type": "message_delta",
                        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
                        "usage": self.usage(),
                    }
                )
            )
            out.append(self.stream_event({"type": "message_stop"}))
        c, tur = t[1], t[2]
        if partial and isinstance(c, str) and len(c) > 1500:
            c = c[:1500]
            tur = None
        out.append(self.user(t[0]["id"], c, tur, t[3]))
        self.n += 1
        return "".join(out)

    def result(self):
        r = self.random
        u = self.usage()
        body = (
            "All tasks complete.\n\n```json\n"
            + json.dumps(
                {
                    "status": "success",
                    "tasks": [{"id": i, "ok": True, "note": 'say "hi"\n'} for i in range(5)],
                },
                indent=2,
            )
            + "\n```\n\nDone ✓"
        )
        return (
            dumps(
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": False,
                    "duration_ms": 123456,
                    "duration_api_ms": 98765,
                    "num_turns": self.n,
                    "result": body,
                    "session_id": self.session,
                    "total_cost_usd": 1.2345678,
                    "usage": u,
                    "modelUsage": {
                        self.model: {
                            "inputTokens": 1234,
                            "outputTokens": 5678,
                            "cacheReadInputTokens": 999999,
                            "cacheCreationInputTokens": 55555,
                            "webSearchRequests": 0,
                            "costUSD": 1.2345678,
                            "contextWindow": 200000,
                        }
                    },
                    "permission_denials": [],
                    "uuid": self.uuid(),
                }
            )
            + "\n"
        )


def adversarial():
    A = []
    a = A.append
    a('{"type":"assistant","message":{"content":[{"type":"text","text":"plain"}]}}')
    a(
        '{ "type" : "assistant" , "message" : { "content" : [ { "type" : "text" , "text" : "whitespace" } ] } }'
    )
    a(
        '\t{"message":{"content":[{"text":"keyorder","type":"text"}],"role":"assistant"},"type":"assistant"}  \r'
    )
    a(
        '{"message":{"content":[{"input":{"file_path":"/late/type"},"name":"Read","id":"toolu_x","type":"tool_use"}]},"type":"assistant"}'
    )
    a('{"\\u0074ype":"assistant","message":{"content":[{"type":"text","text":"escaped key"}]}}')
    a('{"type":"\\u0061ssistant","message":{"content":[{"t\\u0079pe":"te\\u0078t","text":"escaped value"}]}}')
    a(
        '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"n1","content":"{\\"type\\":\\"assistant\\",\\"message\\":{\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"NESTED BAD\\"}]}}"}]}}'
    )
    a(
        '{"x":{"type":"assistant","message":{"content":[{"type":"text","text":"NESTED OBJ BAD"}]}},"type":"system"}'
    )
    a(
        '{"type":"system","message":{"content":[{"type":"text","text":"SYSTEM BAD"}]},"note":{"type":"assistant"}}'
    )
    a('{"type":"user","message":{"content":"plain user text \\"type\\":\\"assistant\\""}}')
    a('{"type":"user","message":{"content":[{"type":"text","text":"USER TEXT BAD"}]}}')
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git commit -m x","description":"d"}}]}}'
    )
    a(
        '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"other","content":"[main 1234567] DECOY BAD"}]}}'
    )
    a(
        '{"message":{"content":[{"content":"husky\\nlint ok\\n[feat/x (root-commit) abcdef1] feat: real \\u2713\\n 1 file changed","tool_use_id":"c1","type":"tool_result"}]},"type":"user"}'
    )
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c2","name":"Bash","input":{"command":"git commit -m y"}},{"type":"text","text":"two blocks\\nsecond line"}]}}'
    )
    a(
        '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"[main 7654321] fix: array content"}]}]}}'
    )
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u1","name":"Write","input":{"content":"{\\"file_path\\":\\"/BAD\\"}\\\\","file_path":"/real/\\u00e9\\"q\\".rs"}}]}}'
    )
    a('{"type":"assistant","message":{"content":[{"type":"text","text":"' + "\\ud83d\\ude80" * 250 + '"}]}}')
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u2","name":"Bash","input":{"command":"'
        + "é" * 79
        + "\\n"
        + "z" * 50
        + '"}}]}}'
    )
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u3","name":"Grep","input":{"pattern":"a\\\\\\"b\\\\"}},{"type":"tool_use","id":"u4","name":"Glob","input":{"pattern":"**/*.rs"}},{"type":"tool_use","id":"u5","name":"Task","input":{"description":"sub","prompt":"p"}},{"type":"tool_use","id":"u6","name":"TodoWrite","input":{}}]}}'
    )
    a(
        '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"u7","name":"Read","input":{"nested":{"file_path":"/BAD2"},"file_path":"/good2"}}]}}'
    )
    a("")
    a('not json at all "type":"assistant"')
    a(
        '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"\\"type\\":\\"assistant\\""}}}'
    )
    a('{"type":"assistant","message":{"content":"string content not array"}}')
    a('{"type":"assistant","message":null}')
    a('{"type":"assistant","message":{"content":[{"type":"text","text":"last ok"}]}}')
    a('{"type":"assistant","message":{"content":[{"type":"text","text":"TRUNCATED BAD')
    return "\n".join(A)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mix", choices=["tool", "partial", "session", "adversarial"], default="tool")
    p.add_argument("--size", default="10MB")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-o", default="-")
    p.add_argument(
        "--images",
        type=float,
        default=None,
        help="probability of a 5 MB image per turn (default tool 1/1500, else 0)",
    )
    a = p.parse_args()
    out = sys.stdout if a.o == "-" else open(a.o, "w", encoding="utf-8", newline="", buffering=1 << 20)
    if a.mix == "adversarial":
        out.write(adversarial())
        return
    u = a.size.upper().rstrip("B")
    mul = {"K": 10**3, "M": 10**6, "G": 10**9}.get(u[-1], 1)
    size = int(float(u.rstrip("KMG")) * mul)
    g = Gen(a.seed, a.mix)
    pim = a.images if a.images is not None else (1 / 1500 if a.mix == "tool" else 0)
    n = 0

    def w(t):
        nonlocal n
        n += len(t) if t.isascii() else len(t.encode())
        out.write(t)

    if a.mix != "session":
        w(g.init())
    else:
        w(g.line({"type": "user", "message": {"role": "user", "content": "Please do the thing"}}))
    if a.mix == "tool" and pim > 0:
        w(g.image())
    while n < size:
        w(g.turn())
        if pim and g.random.random() < pim:
            w(g.image())
    if a.mix != "session":
        w(g.result())
    out.flush()


if __name__ == "__main__":
    main()
