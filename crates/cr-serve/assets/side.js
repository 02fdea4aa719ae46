// Beside the log: what the run used, what it made, when what ran.

const MARKS = [70, 80, 95];
const MOST_AGENTS = 16;
const MOST_SPANS = 20000;

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
  const said = model.commitRows.slice(-30).map((row) => [row.sha, row.text]).reverse();
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
  if (model.agents.size < 2) return null;
  const all = [...model.agents.values()];
  const agents = [all[0], ...all.slice(1).slice(-MOST_AGENTS)];
  const older = all.length - agents.length;
  return el("section", null, el("h2", null, "Agents"), el("ul.agents", null, agents.map((agent) =>
    el("li", null, el("button.plain.c" + agent.colour, { onclick: () => jump(agent) },
      el("span.dot", null), el("span.name", null, visible(agent.name)),
      el("span.took", null, agent.calls ? count(agent.calls, "call") : ""))))),
    older > 0 && el("p.dim", null, count(older, "earlier agent")));
}

// When which tool ran, one line for each agent; of many calls the last.
function timeline(canvas, model) {
  const spans = model.spans.slice(-MOST_SPANS);
  const lanes = new Map();
  for (let n = spans.length - 1; n >= 0 && lanes.size < 12; n--) lanes.set(spans[n].agent, 0);
  [...lanes.keys()].reverse().forEach((agent, lane) => lanes.set(agent, lane));
  canvas.parentElement.hidden = !spans.length;
  if (!spans.length) return;
  const from = spans[0].call.began;
  const to = Math.max(from + 1000, model.time || from);
  const scale = devicePixelRatio || 1;
  const width = canvas.clientWidth || 240;
  const height = 14 * lanes.size + 4;
  canvas.style.height = height + "px";
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colours = ["--line", "--bad", "--a0", "--a1", "--a2", "--a3", "--a4", "--a5", "--a6", "--a7"]
    .map((name) => style.getPropertyValue(name).trim());
  pen.fillStyle = colours[0];
  for (const lane of lanes.values()) pen.fillRect(0, lane * 14 + 8, width, 1);
  for (const { agent, call } of spans) {
    const lane = lanes.get(agent);
    if (lane === undefined) continue;
    const left = (call.began - from) / (to - from) * (width - 2);
    const right = ((call.ended || model.time || call.began) - from) / (to - from) * (width - 2);
    const isBad = call.state === "failed" || call.state === "denied";
    pen.fillStyle = colours[isBad ? 1 : agent.colour + 2];
    pen.fillRect(left, lane * 14 + 3, Math.max(1.5, right - left), 10);
  }
  const words = count(spans.length, "call") + " in " + elapsed(to - from);
  canvas.setAttribute("aria-label", "Time line: " + words);
  canvas.nextElementSibling.textContent = words;
}
