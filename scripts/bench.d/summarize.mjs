// The job of cr-summarize in Node: one object of the fields both can know.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const input = process.argv[2] ? createReadStream(process.argv[2]) : process.stdin;
const summary = { tools: {}, tool_calls: 0, results: 0, errors: 0 };
const usages = new Map();
let context;

for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    continue;
  }
  const content = Array.isArray(event?.message?.content) ? event.message.content : [];
  if (event?.type === "assistant") {
    summary.model = event.message.model;
    if (event.parent_tool_use_id === null) context = event.message.usage;
    usages.set(event.message.id, event.message.usage);
    for (const block of content) {
      if (block.type !== "tool_use") continue;
      summary.tools[block.name] = (summary.tools[block.name] ?? 0) + 1;
      summary.tool_calls += 1;
    }
  } else if (event?.type === "user") {
    summary.errors += content.filter((block) => block.is_error).length;
  } else if (event?.type === "result") {
    summary.results += 1;
    const { result, total_cost_usd, num_turns, is_error, session_id, modelUsage, permission_denials } = event;
    Object.assign(summary, { result, total_cost_usd, num_turns, is_error, session_id, modelUsage, permission_denials });
  } else if (event?.type === "system" && event.subtype === "init") {
    summary.session_id = event.session_id;
    summary.cwd = event.cwd;
  }
}
summary.tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 };
for (const usage of usages.values()) {
  summary.tokens.input += usage.input_tokens;
  summary.tokens.output += usage.output_tokens;
  summary.tokens.cache_read += usage.cache_read_input_tokens;
  summary.tokens.cache_creation += usage.cache_creation_input_tokens;
}
if (context) {
  summary.context_used =
    context.input_tokens + context.cache_read_input_tokens + context.cache_creation_input_tokens;
}
process.stdout.write(JSON.stringify(summary) + "\n");
