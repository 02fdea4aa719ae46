// One row of the log as elements.

// What a row shows beside its agent; `view` knows what is open and redraws a row.
function card(row, view) {
  const make = CARDS[row.kind] || CARDS.quiet;
  let body;
  let classes;
  try {
    [body, ...classes] = make(row, view);
  } catch {
    // Valid JSON of a form that no agent writes.
    body = [visible(JSON.stringify(row.data || row.call || row.text || ""))];
    classes = [];
  }
  const time = el("a.time", { href: view.address(row), title: "Link to this event" }, clock(row.time));
  return el(["div", "row", "k-" + row.kind, ...classes].join("."), { role: "listitem" }, time, el("div.body", null, body));
}

const SIGNS = { open: "·", done: "✓", failed: "✗", denied: "⊘" };
const STATES = { open: "running", done: "done", failed: "failed", denied: "denied" };

function target(call) {
  const input = call.input;
  const first = input.file_path || input.notebook_path || input.command || input.pattern || input.path
    || input.url || input.query || input.description || input.skill;
  if (typeof first === "string") return visible(firstLine(first));
  const text = JSON.stringify(input);
  return text === "{}" ? "" : visible(text.slice(0, 300));
}

function label(name) {
  const mcp = /^mcp__(.+?)__(.+)$/.exec(name);
  return mcp ? mcp[1] + " " + mcp[2] : name === "Task" ? "Agent" : name;
}

function callHead(call, extra) {
  const time = call.began && call.ended ? elapsed(call.ended - call.began) : "";
  return el("div.call." + call.state, null,
    el("span.state", { title: STATES[call.state], role: "img", "aria-label": STATES[call.state] }, SIGNS[call.state]),
    el("span.tool", null, visible(label(call.name))),
    el("span.target", { title: target(call) }, target(call)), extra,
    call.state === "denied" && el("span.badge", null, "denied"),
    el("span.took", null, time));
}

// What says only that there is nothing to say.
const SILENT = /^\(Bash completed with no output\)$|^Async agent launched successfully/;

// Text whose beginning is shown, and all of it on demand.
function folded(text, row, view, part, most) {
  const key = row.index + ":" + part;
  const lines = text.replace(/\n+$/, "").split("\n");
  const isOpen = view.isOpen(key);
  const shown = isOpen ? lines : lines.slice(0, most);
  const pre = el("pre.output", { tabIndex: 0 }, visible(shown.join("\n")));
  if (lines.length <= most) return [pre];
  const text2 = isOpen ? "Show less" : "Show " + count(lines.length - most, "more line");
  return [pre, el("button.more", { "aria-expanded": String(isOpen), onclick: () => view.toggle(row, key) }, text2)];
}

const CARDS = {
  text: (row) => [prose(row.text)],

  thinking(row, view) {
    const isOpen = view.isOpen(row.index + ":");
    const toggle = () => view.toggle(row, row.index + ":");
    const head = el("button.fold", { "aria-expanded": String(isOpen), onclick: toggle },
      el("span.word", null, "Thinking"), el("span.target", null, isOpen ? "" : visible(firstLine(row.text))));
    return [[head, isOpen && el("div.thought", null, prose(row.text))]];
  },

  prompt: (row, view) => [[el("div.who", null, "Prompt"), folded(row.text, row, view, "p", 12)], "card"],
  peer: (row, view) => [[el("div.who", null, "Message to the agent"), folded(row.text, row, view, "p", 12)], "card"],

  report(row) {
    const head = el("div.who", null, visible(row.agent.name) + " reports" + (row.state === "completed" || !row.state ? "" : ": " + visible(row.state)));
    return [[head, prose(row.text)], "card"];
  },

  sent(row) {
    const input = row.call.input;
    const text = input.message || input.content || input.summary || "";
    const to = input.to || input.recipient || "";
    const head = el("div.who", null, visible(row.agent.name) + " → " + visible(to), el("span.took", null, SIGNS[row.call.state]));
    return [[head, prose(typeof text === "string" ? text : JSON.stringify(text))], "card"];
  },

  tool(row, view) {
    const call = row.call;
    const parts = [];
    const changes = changesOf(call);
    let extra = null;
    if (changes) {
      const [plus, minus] = added(changes);
      extra = el("span.sum", null, el("span.plus", null, "+" + plus), " ", el("span.minus", null, "−" + minus));
    }
    parts.push(callHead(call, extra));
    const key = row.index + ":d";
    if (changes) parts.push(...diffBlock(changes, view.isOpen(key), () => view.toggle(row, key)));
    const isLong = call.name === "Bash" && String(call.input.command).includes("\n");
    if (isLong) parts.push(code(visible(call.input.command)));
    const isBad = call.state === "failed" || call.state === "denied";
    if (call.output && (isBad || !(changes || SILENT.test(call.output)))) parts.push(...folded(call.output, row, view, "o", isBad ? 12 : 3));
    return [parts, isBad ? "bad" : "fine"];
  },

  group(row, view) {
    const calls = row.calls;
    const names = [...new Set(calls.map((call) => label(call.name)))].join(", ");
    if (calls.length === 1) {
      const isBad = row.failed;
      return [[callHead(calls[0]), isBad && folded(calls[0].output, row, view, "o", 6)], isBad ? "bad" : "fine"];
    }
    const key = row.index + ":";
    const isOpen = view.isOpen(key);
    const bad = calls.filter((call) => call.state === "failed" || call.state === "denied").length;
    const head = el("button.fold", { "aria-expanded": String(isOpen), onclick: () => view.toggle(row, key) },
      el("span.tool", null, names), el("span.badge.number", null, String(calls.length)),
      bad > 0 && el("span.badge.failed", null, bad + " failed"),
      el("span.target", null, isOpen ? "" : calls.map(target).join("  ")));
    return [[head, isOpen && calls.map((call) => callHead(call))], bad ? "bad" : "fine"];
  },

  ask(row, view) {
    const data = row.data;
    const state = data.state === "answered" ? (data.answer || "answered") + (data.answered_by ? " by " + data.answered_by : "") : data.state;
    const head = el("div.who", null, "Question" + (data.tool ? ": " + visible(data.tool) : ""),
      el("span.badge." + (data.state === "open" ? "open" : "number"), null, visible(state || "")));
    return [[head, el("pre.output", { tabIndex: 0 }, visible(data.text || "")), data.state === "open" && view.answers(data)], "card"];
  },

  commit: (row) => [[el("span.tool", null, "Commit"), el("code", null, row.sha), " ", visible(row.text)], "good"],
  error: (row) => [[el("span.tool", null, "Error"), prose(row.text)], "bad"],
  warning: (row) => [[visible(row.text)], "warn"],
  note: (row) => [[visible(row.text)]],
  quiet: (row) => [[visible(row.text)]],
  raw: (row, view) => [folded(row.text, row, view, "r", 8)],

  oversize(row) {
    const text = "A line of " + short(row.bytes) + "B; its beginning:";
    return [[el("div.who", null, text), el("pre.output", { tabIndex: 0 }, visible(row.text.slice(0, 600)))]];
  },

  init(row) {
    const words = [row.model, row.mode, row.cwd].filter(Boolean).map(visible);
    return [[el("span.tool", null, "Turn"), words.join("  ·  ")], "line"];
  },

  result(row) {
    const data = row.data;
    const isBad = data.is_error || (data.subtype && data.subtype !== "success");
    const words = [data.subtype, data.num_turns !== undefined && count(data.num_turns, "turn"),
      elapsed(data.duration_ms), typeof data.total_cost_usd === "number" && dollars(data.total_cost_usd) + " in the session"];
    const text = words.filter(Boolean).map(visible).join("  ·  ");
    const errors = (data.errors || []).map((text) => el("p", null, visible(text)));
    return [[el("span.tool", null, isBad ? "Ended" : "Done"), text, errors], "line", isBad ? "bad" : "good"];
  },

  exit(row) {
    const data = row.data;
    const words = ["exit", data.reason, data.exit_code !== null && data.exit_code !== undefined && "code " + data.exit_code,
      data.signal && "signal " + data.signal, elapsed(data.duration_ms)];
    const leaked = (data.leaked || []).length;
    if (leaked) words.push(count(leaked, "process") + " left behind, killed");
    return [[words.filter(Boolean).map(visible).join("  ·  ")], "line"];
  },

  git(row) {
    const data = row.data;
    const commits = (data.commits || []).map((text) => el("p", null, el("code", null, visible(text.slice(0, 7))), visible(text.slice(7))));
    const text = count(data.changed_files || 0, "file") + " changed, +" + (data.insertions || 0) + " −" + (data.deletions || 0);
    return [[el("span.tool", null, "Repository"), text, commits], "good"];
  },
};

// The line above the rows of an agent.
function banner(agent) {
  return el("div.banner.c" + agent.colour, { role: "listitem" },
    el("span.dot", null), el("span.name", null, visible(agent.name)),
    agent.about && el("span.about", null, visible(agent.about)));
}

// What a row says, for the search.
function wordsOf(row) {
  const calls = row.call ? [row.call] : row.calls || [];
  const parts = calls.map((call) => call.name + " " + JSON.stringify(call.input) + " " + call.output);
  if (row.data) parts.push(JSON.stringify(row.data));
  parts.push(row.text || "", row.sha || "", row.agent.name);
  return parts.join(" ").toLowerCase();
}
