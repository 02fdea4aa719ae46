// Beside the log: what the run used, what it made, when what ran.

const MARKS = [70, 80, 95];

function gauge(tokens) {
  const used = tokens && tokens.context_used;
  const size = tokens && tokens.context_window;
  const isKnown = typeof used === "number" && typeof size === "number" && size > 0;
  const percent = isKnown ? Math.floor(100 * used / size) : 0;
  const level = percent >= 95 ? "critical" : percent >= 80 ? "high" : percent >= 70 ? "raised" : "low";
  const bar = el("div.bar." + level, {
    role: "meter", "aria-label": "Context", "aria-valuemin": "0", "aria-valuemax": "100",
    "aria-valuenow": String(Math.min(100, percent)),
  });
  const part = el("div.part");
  part.style.width = Math.min(100, percent) + "%";
  bar.append(part);
  for (const mark of MARKS) {
    const line = el("div.mark");
    line.style.left = mark + "%";
    bar.append(line);
  }
  const text = isKnown ? percent + "%  ·  " + short(used) + " of " + short(size)
    : used ? short(used) + " tokens; the window is not known" : "not known yet";
  const marks = el("div.marks", { "aria-hidden": "true" }, MARKS.map((mark) => {
    const node = el("span", null, String(mark));
    node.style.left = mark + "%";
    return node;
  }));
  return el("section", null, el("h2", null, "Context"), el("p.big", null, text), bar, marks);
}

function facts(pairs) {
  const list = el("dl.facts");
  for (const [name, value, title] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    list.append(el("div", { title: title || "" }, el("dt", null, name), el("dd", null, String(value))));
  }
  return list;
}

function verdict(summary, isOver) {
  if (!isOver || !summary.outcome) return null;
  const kind = summary.ok ? "good" : summary.code === 75 || summary.code === 4 ? "warn" : "bad";
  return el("section.verdict." + kind, null,
    el("h2", null, visible(summary.outcome), summary.code !== null && summary.code !== undefined && el("span.took", null, "code " + summary.code)),
    summary.why && el("p", null, visible(summary.why)),
    summary.next && summary.next !== "Nothing." && el("p.next", null, visible(summary.next)));
}

function spending(summary) {
  const tokens = summary.tokens || {};
  const isEstimate = summary.cost_source === "estimate";
  const cost = (isEstimate ? "≈ " : "") + dollars(summary.cost_usd);
  const pairs = [
    ["Cost", cost, isEstimate ? "An estimate from list prices" : ""],
    ["Turns", summary.num_turns],
    ["Calls of tools", summary.tool_calls],
    ["Subagents", summary.subagents || null],
    ["Input", short(tokens.input)],
    ["Output", short(tokens.output)],
    ["Cache read", short(tokens.cache_read)],
    ["Cache written", short(tokens.cache_creation)],
    ["Retries of the API", summary.api_retries || null],
    ["Compactions", summary.compactions || null],
  ];
  const models = Object.entries(summary.models || {});
  const list = models.length > 1 && el("ul.models", null, models.map(([name, it]) =>
    el("li", null, el("span", null, visible(name)), el("span.took", null, dollars(it.cost_usd)))));
  return el("section", null, el("h2", null, "Spent"), facts(pairs), list);
}

// The tools by how often they were called.
function toolList(summary) {
  const sums = new Map();
  for (const [name, number] of Object.entries(summary.tools || {})) {
    if (typeof number === "number") sums.set(label(name), (sums.get(label(name)) || 0) + number);
  }
  const tools = [...sums];
  if (!tools.length) return null;
  tools.sort((a, b) => b[1] - a[1]);
  const most = tools[0][1] || 1;
  const rows = tools.slice(0, 8).map(([name, number]) => {
    const bar = el("span.bar", { "aria-hidden": "true" });
    bar.style.width = Math.max(2, 100 * number / most) + "%";
    return el("li", null, el("span.name", null, visible(name)), el("span.track", null, bar), el("span.took", null, String(number)));
  });
  return el("section", null, el("h2", null, "Tools"), el("ul.tools", null, rows));
}

function commitList(model, git) {
  const said = model.rows.filter((row) => row.kind === "commit").map((row) => [row.sha, row.text]).reverse();
  const known = git && git.commits ? git.commits.map((text) => [text.slice(0, 7), text.slice(8)]) : said;
  if (!known.length && !(git && git.files && git.files.length)) return null;
  const commits = known.slice(0, 30).map(([sha, text]) => el("li", null, el("code", null, visible(sha)), " ", visible(text)));
  const files = (git && git.files || []).slice(0, 50).map((file) => {
    const path = typeof file === "string" ? file : file.path;
    return el("li", null, el("span.target", { title: visible(path || "") }, visible(path || "")));
  });
  return el("section", null, el("h2", null, "Commits"), el("ul.commits", null, commits),
    files.length > 0 && el("h2", null, "Files"), files.length > 0 && el("ul.commits", null, files));
}

function agentList(model, jump) {
  const agents = [...model.agents.values()].filter((agent) => agent !== model.main || model.agents.size > 1);
  if (agents.length < 2) return null;
  return el("section", null, el("h2", null, "Agents"), el("ul.agents", null, agents.map((agent) =>
    el("li", null, el("button.plain.c" + agent.colour, { onclick: () => jump(agent) },
      el("span.dot", null), el("span.name", null, visible(agent.name)),
      el("span.took", null, agent.calls ? count(agent.calls, "call") : ""))))));
}

// When which tool ran, one line for each agent.
function timeline(canvas, model) {
  const spans = [];
  for (const row of model.rows) {
    for (const call of row.call ? [row.call] : row.calls || []) {
      if (call.began) spans.push([row.agent, call.began, call.ended || model.time || call.began, call.state]);
    }
  }
  const agents = [...new Set(spans.map((span) => span[0]))].slice(0, 12);
  canvas.parentElement.hidden = !spans.length;
  if (!spans.length) return;
  const from = Math.min(...spans.slice(0, 5000).map((span) => span[1]));
  const to = Math.max(from + 1000, model.time || from);
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth || 240;
  const height = 14 * agents.length + 4;
  canvas.style.height = height + "px";
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  agents.forEach((agent, lane) => {
    pen.fillStyle = colour("--line");
    pen.fillRect(0, lane * 14 + 8, width, 1);
    for (const [owner, began, ended, state] of spans) {
      if (owner !== agent) continue;
      const left = (began - from) / (to - from) * (width - 2);
      const right = (ended - from) / (to - from) * (width - 2);
      pen.fillStyle = state === "failed" || state === "denied" ? colour("--bad") : colour("--a" + agent.colour);
      pen.fillRect(left, lane * 14 + 3, Math.max(1.5, right - left), 10);
    }
  });
  const words = count(spans.length, "call") + " in " + elapsed(to - from);
  canvas.setAttribute("aria-label", "Time line: " + words);
  canvas.nextElementSibling.textContent = words;
}
