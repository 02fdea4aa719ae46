// What a transcript means: its lines become rows of the log. Both dialects are read:
// the stream of the CLI, and the logs that a session leaves on disk.

const MOST_TEXT = 200000;
const QUIET = new Set(["thinking_tokens", "background_tasks_changed", "task_progress",
  "task_updated", "session_state_changed", "status", "hook_started", "hook_response",
  "hook_progress", "files_persisted", "vcs_state_changed", "post_turn_summary"]);
const LOOKS = new Set(["Read", "Grep", "Glob", "LS", "NotebookRead", "ToolSearch"]);

class Model {
  constructor() {
    this.clear();
  }

  clear() {
    this.rows = [];
    this.calls = new Map();
    this.agents = new Map();
    this.byTask = new Map();
    this.asks = new Map();
    this.main = this.agent("", "main", 0);
    this.time = null;
    this.last = null;
    this.running = new Set();
    this.spans = [];
    this.commitRows = [];
    this.changed = new Set();
    this.lines = 0;
    this.cleared = true;
  }

  // The agent whose call is `id`, with a colour of its own.
  agent(id, name, depth, about) {
    let agent = this.agents.get(id);
    if (!agent) {
      agent = { id, name, about: about || "", depth, colour: this.agents.size % 8, calls: 0 };
      this.agents.set(id, agent);
    }
    return agent;
  }

  agentOf(line) {
    const parent = line.parent_tool_use_id || line.parentToolUseID || null;
    if (parent) return this.agents.get(parent) || this.agent(parent, line.task_description || "agent", 1);
    if (line.isSidechain) return this.agent(line.agentId || "side", line.agentId || "subagent", 1);
    return this.main;
  }

  push(row, at, agent) {
    row.at = at;
    row.agent = agent;
    row.time = this.time;
    row.index = this.rows.length;
    this.rows.push(row);
    this.last = row;
    return row;
  }

  touch(row) {
    this.changed.add(row.index);
  }

  // A line of the transcript; `at` is its id.
  line(line, at) {
    this.lines++;
    const time = Date.parse(line.timestamp || line.at || "");
    const own = Number.isNaN(time) ? null : time;
    if (own) this.time = own;
    const agent = this.agentOf(line);
    switch (line.type) {
      case "assistant": return this.message(line, at, agent, own, true);
      case "user": return this.message(line, at, agent, own, false);
      case "result": return this.push({ kind: "result", data: line }, at, this.main);
      case "system": return this.system(line, at, agent);
      case "cr": return this.own(line, at);
      case "rate_limit_event": return this.quota(line, at);
      case "progress": return this.progress(line, at);
      default:
        return this.push({ kind: "quiet", low: true, text: String(line.type), data: null }, at, agent);
    }
  }

  // A line that is no JSON object.
  text(text, at) {
    this.lines++;
    this.push({ kind: "raw", text: String(text).slice(0, MOST_TEXT) }, at, this.main);
  }

  oversize(data, at) {
    this.lines++;
    this.push({ kind: "oversize", bytes: data.bytes, text: data.head }, at, this.main);
  }

  // A subagent's message in a session log of older releases.
  progress(line, at) {
    const data = line.data || {};
    if (data.type !== "agent_progress" || !data.message) return;
    const inner = Object.assign({}, data.message, { parent_tool_use_id: line.parentToolUseID });
    if (!inner.timestamp) inner.timestamp = line.timestamp;
    this.line(inner, at);
  }

  message(line, at, agent, own, isModel) {
    const content = line.message ? line.message.content : null;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (!Array.isArray(blocks)) return;
    for (const block of blocks) {
      if (!block || typeof block !== "object") continue;
      if (block.type === "text") this.says(line, block.text, at, agent, isModel);
      else if (block.type === "thinking" && block.thinking) {
        this.push({ kind: "thinking", text: block.thinking }, at, agent);
      } else if (block.type === "tool_use") this.call(block, at, agent, own);
      else if (block.type === "tool_result") this.result(block, line, at, own);
    }
  }

  says(line, text, at, agent, isModel) {
    if (typeof text !== "string" || !text.trim()) return;
    text = text.slice(0, MOST_TEXT);
    const isError = line.error || line.isApiErrorMessage;
    if (isModel) {
      this.push({ kind: isError ? "error" : "text", text }, at, agent);
    } else if (/^<teammate-message|^<task-notification/.test(text)) {
      this.push({ kind: "peer", text }, at, agent);
    } else {
      const low = Boolean(line.isMeta || line.isSynthetic);
      this.push({ kind: "prompt", text, low }, at, agent);
    }
  }

  call(block, at, agent, own) {
    const input = block.input && typeof block.input === "object" ? block.input : {};
    const name = String(block.name || "tool");
    if (name === "Agent" || name === "Task") {
      const called = input.name || input.description || input.subagent_type || "agent";
      const about = input.name ? input.description : input.subagent_type;
      this.agent(block.id, String(called), agent.depth + 1, about && String(about));
    }
    agent.calls++;
    const kind = name === "SendMessage" ? "sent" : LOOKS.has(name) ? "look" : "tool";
    const call = { id: block.id, name, input, began: own, state: "open", output: "" };
    const group = this.last;
    let row;
    if (kind === "look" && group && group.kind === "group" && group.agent === agent) {
      row = group;
      row.calls.push(call);
      this.touch(row);
    } else if (kind === "look") {
      row = this.push({ kind: "group", calls: [call] }, at, agent);
    } else {
      row = this.push({ kind, call }, at, agent);
    }
    this.calls.set(block.id, { call, row });
    if (own) this.spans.push({ agent, call });
    this.running.add(call);
  }

  result(block, line, at, own) {
    const known = this.calls.get(block.tool_use_id);
    if (!known) return;
    const { call, row } = known;
    const content = block.content;
    const texts = typeof content === "string" ? [content]
      : (Array.isArray(content) ? content : []).map((it) => it && it.type === "text" ? it.text : "");
    call.output = cutLines(texts.join("\n").slice(0, MOST_TEXT), 200);
    call.state = block.is_error ? "failed" : "done";
    if (block.is_error && /requested permissions|haven't granted|denied/i.test(call.output)) {
      call.state = "denied";
    }
    const twin = line.tool_use_result || line.toolUseResult;
    if (twin && Array.isArray(twin.structuredPatch)) call.patch = twin.structuredPatch;
    call.ended = own;
    row.failed = call.state === "failed" || call.state === "denied";
    this.running.delete(call);
    this.calls.delete(block.tool_use_id);
    this.touch(row);
    this.commits(call, at, row.agent);
  }

  // Commits are taken from what git said, not from the command that was typed.
  commits(call, at, agent) {
    if (call.name !== "Bash" || !/\bgit\b/.test(String(call.input.command))) return;
    const pattern = /^\[[^\]\n]*\b([0-9a-f]{7,40})\] (.+)$/gm;
    for (const found of call.output.matchAll(pattern)) {
      this.commitRows.push(this.push({ kind: "commit", sha: found[1], text: found[2] }, at, agent));
    }
  }

  system(line, at, agent) {
    const kind = line.subtype || "system";
    if (kind === "init") {
      return this.push({ kind: "init", model: line.model, mode: line.permissionMode, cwd: line.cwd }, at, this.main);
    }
    if (kind === "task_started") this.byTask.set(line.task_id, line.tool_use_id);
    if (kind === "task_notification") {
      const from = this.agents.get(line.tool_use_id) || this.agents.get(this.byTask.get(line.task_id));
      const text = visible(line.summary || line.status || "");
      return this.push({ kind: "report", text, state: line.status }, at, from || agent);
    }
    if (kind === "api_retry") {
      const text = "The API is asked again: " + (line.error || line.error_status || "error");
      return this.push({ kind: "warning", text }, at, agent);
    }
    if (kind === "compact_boundary") return this.push({ kind: "note", text: "The context was compacted" }, at, agent);
    const text = kind + (line.description ? ": " + line.description : "") + (line.content ? ": " + line.content : "");
    const low = QUIET.has(kind) || kind === "task_started" || !line.content;
    this.push({ kind: "quiet", low, text: text.slice(0, 2000) }, at, agent);
  }

  quota(line, at) {
    const info = line.rate_limit_info || {};
    const isFine = !info.status || info.status === "allowed";
    const reset = info.resetsAt ? "; it resets at " + clock(info.resetsAt * 1000) : "";
    const text = "Usage limit " + (info.rateLimitType || "") + ": " + (info.status || "") + reset;
    this.push({ kind: isFine ? "quiet" : "warning", low: isFine, text }, at, this.main);
  }

  // A line of the runner.
  own(line, at) {
    const kind = line.subtype;
    if (kind === "ask") return this.ask(line, at);
    if (kind === "exit") return this.push({ kind: "exit", data: line }, at, this.main);
    if (kind === "git") return this.git(line, at);
    if (kind === "limit") {
      const text = (line.clock || "limit") + " reached after " + elapsed(line.elapsed_ms) + "; " + (line.action || "");
      return this.push({ kind: "error", text }, at, this.main);
    }
    if (kind === "cut") {
      return this.push({ kind: "warning", text: "The record is full: what follows is not in it" }, at, this.main);
    }
    if (kind === "forged") {
      return this.push({ kind: "warning", text: "The agent wrote a line that claims to be the runner's" }, at, this.main);
    }
    if (kind === "stderr" || kind === "noise") {
      return this.push({ kind: "raw", text: String(line.text || line.line || "") }, at, this.main);
    }
    if (kind === "input") {
      const text = "Message " + (line.state || "") + (line.from ? " from " + line.from : "");
      return this.push({ kind: "quiet", low: line.state !== "rejected", text }, at, this.main);
    }
    if (kind === "oversize") return this.push({ kind: "oversize", bytes: line.bytes, text: line.head || "" }, at, this.main);
    if (kind === "start") {
      const text = "Run " + (line.name || line.run_id || "") + (line.model ? " with " + line.model : "");
      return this.push({ kind: "quiet", low: true, text }, at, this.main);
    }
    this.push({ kind: "quiet", low: true, text: kind + (line.state ? ": " + line.state : "") }, at, this.main);
  }

  git(line, at) {
    if (line.phase !== "end") return;
    this.push({ kind: "git", data: line }, at, this.main);
  }

  ask(line, at) {
    const known = this.asks.get(line.id);
    if (known) {
      known.data = Object.assign({}, known.data, line);
      return this.touch(known);
    }
    const row = this.push({ kind: "ask", data: line }, at, this.main);
    this.asks.set(line.id, row);
  }
}
