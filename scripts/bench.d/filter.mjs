// The job of cr-filter in Node: one line a tool call, text or commit.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const input = process.argv[2] ? createReadStream(process.argv[2]) : process.stdin;
const flat = (text) => text.replaceAll("\n", "\\n");
const show = (kind, text) => process.stdout.write(`[--:--:--] ${kind}: ${text}\n`);
const targets = {
  Read: ["Read", (i) => i.file_path],
  Edit: ["Edit", (i) => i.file_path],
  Write: ["Write", (i) => i.file_path],
  Bash: ["Bash", (i) => flat(i.command.slice(0, 80))],
  Grep: ["Search", (i) => i.pattern],
  Glob: ["Search", (i) => i.pattern],
  Task: ["Subagent", (i) => i.description],
  Agent: ["Subagent", (i) => i.description],
};

for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    continue;
  }
  const content = event?.message?.content;
  if (!Array.isArray(content)) continue;
  for (const block of content) {
    if (event.type === "assistant" && block.type === "tool_use") {
      const [kind, target] = targets[block.name] ?? [block.name, (i) => JSON.stringify(i).slice(0, 60)];
      show(kind, target(block.input));
    } else if (event.type === "assistant" && block.type === "text" && block.text.length > 20) {
      show("Text", flat(block.text.slice(0, 200)));
    } else if (event.type === "user" && block.type === "tool_result" && typeof block.content === "string") {
      const commit = /^\[[^\]]* [0-9a-f]{7,40}\] (.*)/.exec(block.content);
      if (commit) show("Commit", commit[1]);
    }
  }
}
