// The job of claude-runner in Node: git before and after, the agent between,
// one line an event, one object at the end.
import { execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();
const head = () => git("rev-parse", "HEAD");
const dirty = () => git("status", "--porcelain").split("\n").filter(Boolean).length;

const begun = Date.now();
const start = head();
const dirtyBefore = dirty();
console.log("Session started");
const agent = spawn(process.env.CR_CLAUDE, ["-p", "--output-format", "stream-json", "--verbose"]);
agent.stdin.end(process.argv[2]);
const summary = { tool_calls: 0 };
for await (const line of createInterface({ input: agent.stdout })) {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    continue;
  }
  summary.session_id ??= event?.session_id;
  for (const block of event?.message?.content ?? []) {
    if (block?.type !== "tool_use") continue;
    summary.tool_calls += 1;
    console.log(`${block.name}: ${JSON.stringify(block.input).slice(0, 80)}`);
  }
  if (event?.type === "result") Object.assign(summary, { cost_usd: event.total_cost_usd, result: event.result });
}
const code = await new Promise((resolve) =>
  agent.exitCode === null ? agent.on("exit", resolve) : resolve(agent.exitCode),
);
const end = head();
const commits = start === end ? [] : git("log", "--oneline", `${start}..${end}`).split("\n");
const changes = start === end ? "" : git("diff", "--shortstat", start, end);
console.log("---CLAUDE-RUNNER-RESULT---");
console.log(
  JSON.stringify({
    ...summary,
    exit_code: code,
    duration_seconds: (Date.now() - begun) / 1000,
    git: { start, end, commits, changes, dirty: dirty(), dirty_before: dirtyBefore },
  }),
);
