// The page: what is chosen, where the events come from, and the keys.

const app = {
  about: { control: false, recordings: false },
  runs: new Map(),
  asks: [],
  run: null,
  model: new Model(),
  summary: null,
  git: null,
  source: null,
  waiting: [],
  isOver: false,
  dismissed: new Set(JSON.parse(kept.get("dismissed") || "[]")),
  told: new Set(),
};

const log = new Log(byId("log"), {
  state: showFollow,
  address: (row) => "#run=" + encodeURIComponent(app.run || "") + "&at=" + encodeURIComponent(row.at),
  answers: (ask) => app.run && app.about.recordings === false && app.runs.get(app.run)
    ? answerForm(ask, app.run, app.about.control) : null,
});

// ---- Where the events come from

async function begin() {
  const recording = byId("recording");
  if (recording) return beginRecording(JSON.parse(recording.textContent));
  const token = /^#([0-9a-f]{64})$/.exec(location.hash);
  if (token) {
    history.replaceState(null, "", "/");
    await fetch("/api/session", { method: "POST", headers: { Authorization: "Bearer " + token[1] } });
  }
  const answer = await fetch("/api/about").catch(() => null);
  if (!answer || !answer.ok) {
    return empty("This page is locked", "Open the address that cr-serve printed: it has the token behind #.");
  }
  app.about = await answer.json();
  byId("notify").hidden = !("Notification" in window) || Notification.permission !== "default" || app.about.recordings;
  choose(wanted().get("run"));
}

function wanted() {
  return new URLSearchParams(location.hash.slice(1));
}

// A recording that is in the page itself.
function beginRecording(data) {
  document.body.classList.add("alone");
  app.about.recordings = true;
  app.run = "file-1";
  app.runs.set("file-1", { id: "file-1", name: data.name, state: "recording" });
  app.summary = data.summary;
  let at = 0;
  for (const line of data.lines) app.waiting.push([typeof line === "string" ? "text" : "line", line, ++at]);
  if (data.git) app.waiting.push(["git", data.git, at]);
  app.isOver = true;
  showHead();
  work();
}

function choose(id) {
  app.run = id || null;
  app.model.clear();
  app.summary = null;
  app.git = null;
  app.isOver = false;
  app.waiting = [];
  log.reset();
  log.follows = true;
  fill(byId("facts"));
  byId("when").hidden = true;
  if (id) tab("log");
  connect();
  showHead();
  showRuns();
}

function connect() {
  if (app.source) app.source.close();
  const run = app.run ? "run=" + encodeURIComponent(app.run) + "&kinds=-stream_event&" : "";
  const source = new EventSource("/events?" + run + "runs");
  app.source = source;
  source.onopen = () => state("");
  source.onerror = () => lost(source);
  source.onmessage = (event) => take("line", event);
  for (const name of ["text", "oversize", "git", "summary", "gap", "live", "end", "runs", "run", "gone"]) {
    source.addEventListener(name, (event) => take(name, event));
  }
}

async function lost(source) {
  if (source !== app.source) return;
  if (source.readyState === EventSource.CONNECTING) return state("Connecting again …");
  const answer = await fetch("/api/about").catch(() => null);
  if (answer && answer.status === 401) state("The token is not right any more: open the address that cr-serve printed");
  else if (answer && answer.ok && app.run) {
    app.run = null;
    empty("No such run", "It may have been removed.");
    connect();
  } else {
    state("The server is gone; trying again …");
    setTimeout(() => source === app.source && connect(), 2000);
  }
}

function take(name, event) {
  let data;
  try {
    data = JSON.parse(event.data);
  } catch {
    [name, data] = ["text", event.data];
  }
  app.waiting.push([name, data, event.lastEventId]);
  if (app.waiting.length === 1) setTimeout(work);
}

// Takes over what has come, for a short time at a stretch: the page stays quick.
function work() {
  const until = performance.now() + 12;
  const { waiting, model } = app;
  let n = 0;
  while (n < waiting.length && performance.now() < until) {
    const end = Math.min(n + 50, waiting.length);
    for (; n < end; n++) one(...waiting[n]);
  }
  app.waiting = waiting.slice(n);
  if (model.cleared) {
    model.cleared = false;
    log.reset();
  }
  // While much is still to come, drawing it is work for nothing.
  log.isBusy = app.waiting.length > 500;
  log.append(model.rows);
  for (const index of model.changed) log.changed(index);
  model.changed.clear();
  if (model.rows.length) byId("empty").hidden = true;
  if (app.waiting.length) setTimeout(work);
  else settled();
}

const later = { side: 0, runs: 0 };

// Nothing is waiting: what is beside the log is drawn again, not too often.
function settled() {
  const at = wanted().get("at");
  if (at && app.linked !== location.hash) {
    const row = app.model.rows.find((row) => String(row.at) === at);
    if (row) {
      app.linked = location.hash;
      log.show(row);
    }
  }
  if (!later.side) later.side = setTimeout(() => { later.side = 0; showSide(); }, 400);
}

function one(name, data, at) {
  const { model } = app;
  if (name === "line") {
    try {
      if (data === null || typeof data !== "object" || Array.isArray(data)) throw new TypeError("no object");
      model.line(data, at);
    } catch {
      // Valid JSON of a form that no agent writes.
      model.text(JSON.stringify(data), at);
    }
  } else if (name === "text") model.text(data, at);
  else if (name === "oversize") model.oversize(data, at);
  else if (name === "gap") {
    if (data.why === "shorter") model.clear();
    model.push({ kind: "warning", text: "Events are missing here" }, at, model.main);
  } else if (name === "git") {
    if (!app.git) model.git(data, at);
    app.git = data;
  } else if (name === "summary") app.summary = data;
  else if (name === "end") { app.isOver = true; showHead(); }
  else listed(name, data);
}

// ---- The list of runs

function listed(name, data) {
  if (name === "runs") app.runs = new Map(data.map((run) => [run.id, run]));
  if (name === "run") app.runs.set(data.id, data);
  if (name === "gone") app.runs.delete(data.id);
  if (!later.runs) later.runs = setTimeout(() => { later.runs = 0; listChanged(); }, 50);
}

async function listChanged() {
  if (!app.run && app.runs.size && innerWidth >= 800) {
    const sorted = sortedRuns();
    return choose(sorted[0].id);
  }
  showRuns();
  showHead();
  lateSummary();
  const asking = [...app.runs.values()].map((run) => run.id + " " + (run.questions || 0)).join();
  if (asking !== app.asking) {
    app.asking = asking;
    const answer = await fetch("/api/asks").catch(() => null);
    if (answer && answer.ok) app.asks = await answer.json();
  }
  showNeeds();
}

// The summary of a run that has ended may come after its last event.
async function lateSummary() {
  const id = app.run;
  const run = app.runs.get(id);
  if (!app.isOver || !run || !run.why || (app.summary && app.summary.why === run.why)) return;
  const mark = id + " " + run.why;
  if (app.asked === mark) return;
  app.asked = mark;
  const answer = await fetch("/api/runs/" + encodeURIComponent(id) + "/summary").catch(() => null);
  if (!answer || !answer.ok || app.run !== id) return;
  app.summary = await answer.json();
  showSide();
}

function sortedRuns() {
  const rank = (run) => run.questions && goesOn(run) ? 0 : goesOn(run) ? 1 : 2;
  const runs = [...app.runs.values()];
  return runs.sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? 1 : -1));
}

function goesOn(run) {
  return run.state === "running" || run.state === "starting";
}

function look(run) {
  if (run.questions && goesOn(run)) return ["asks", "open"];
  if (run.state === "running") return [run.activity === "waiting_for_input" ? "waits" : "running", "running"];
  if (run.state === "ended") return [run.outcome || "ended", run.code === 0 ? "good" : run.code === 75 || run.code === 4 ? "open" : "failed"];
  return [run.state, run.state === "lost" ? "failed" : "number"];
}

function showRuns() {
  const rows = sortedRuns().map((run) => {
    const [text, kind] = look(run);
    const facts = [run.seconds !== null && run.seconds !== undefined && elapsed(run.seconds * 1000),
      typeof run.cost_usd === "number" && dollars(run.cost_usd), run.started_at && ago(Date.parse(run.started_at))];
    const props = { href: "#run=" + encodeURIComponent(run.id) };
    if (run.id === app.run) props["aria-current"] = "page";
    return el("li", null, el("a.run", props,
      el("span.name", null, visible(run.name || shortId(run.id))), el("span.badge." + kind, null, visible(text)),
      el("span.last", null, visible((goesOn(run) && run.question) || run.last || run.why || run.cwd || "")),
      el("span.took", null, facts.filter(Boolean).join(" · "))));
  });
  fill(byId("run-list"), rows.length ? rows : el("li.dim", null, "No run yet. Start one with claude-runner."));
}

function shortId(id) {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)\d\dZ-(....)/.exec(id);
  return parts ? parts[2] + "-" + parts[3] + " " + parts[4] + ":" + parts[5] + " " + parts[6] : id;
}

function showNeeds() {
  const nameOf = (id) => { const run = app.runs.get(id); return (run && run.name) || shortId(id); };
  const bad = failures([...app.runs.values()], app.dismissed).slice(0, 8);
  const going = app.asks.filter((ask) => app.runs.has(ask.run));
  const list = byId("need-list");
  const number = going.length + bad.length;
  byId("needs").hidden = number === 0;
  byId("runs-badge").hidden = number === 0;
  byId("runs-badge").textContent = String(number);
  document.title = (number ? "(" + number + ") " : "") + "cr-serve";
  tell(going.map((ask) => [ask.id, nameOf(ask.run) + ": " + (ask.text || "a question")]));
  // What somebody writes into a field stays.
  const mark = JSON.stringify([going.map((ask) => ask.id), bad.map((run) => run.id), app.about.control]);
  if (mark === app.needs) return;
  app.needs = mark;
  fill(list, going.map((ask) => askCard(ask, nameOf(ask.run), () => go(ask.run), app.about.control)),
    bad.map((run) => failureCard(run, () => go(run.id), () => {
      app.dismissed.add(run.id);
      kept.set("dismissed", JSON.stringify([...app.dismissed].slice(-500)));
      showNeeds();
    })));
}

function tell(questions) {
  for (const [id, text] of questions) {
    if (app.told.has(id)) continue;
    app.told.add(id);
    if (document.hidden && "Notification" in window && Notification.permission === "granted") {
      new Notification("Needs you", { body: visible(text).slice(0, 200), tag: id });
    }
  }
}

function go(run) {
  location.hash = "run=" + encodeURIComponent(run);
}

// ---- What is around the log

function state(text) {
  app.trouble = text;
  showHead();
}

function showHead() {
  const run = app.runs.get(app.run);
  byId("title").textContent = run ? visible(run.name || shortId(run.id)) : "cr-serve";
  const [text, kind] = run ? look(run) : ["", "number"];
  const words = app.trouble ? el("span.problem", null, app.trouble)
    : run ? [el("span.badge." + kind, null, visible(text)), el("span.dim", null, visible(run.cwd || ""))] : "";
  fill(byId("state"), words);
  byId("talk").hidden = !(run && app.about.control && run.state === "running");
  if (!app.run && !app.trouble) empty("Choose a run", "");
}

function empty(title, text) {
  const box = byId("empty");
  box.hidden = false;
  fill(box, el("p.head", null, title), el("p", null, text));
}

function showFollow(log) {
  const button = byId("follow");
  button.hidden = log.follows;
  button.textContent = log.unseen ? "↓ " + count(log.unseen, "new event") : "↓ Follow";
}

function showSide() {
  const { model } = app;
  const summary = app.summary || {};
  const box = byId("facts");
  const run = app.runs.get(app.run);
  const isOver = app.isOver || (run && !goesOn(run));
  const running = [...model.running].slice(-3).map((call) => el("li", null, el("span.tool", null, visible(label(call.name))), " ", target(call)));
  fill(box, verdict(summary, isOver),
    !isOver && running.length > 0 && el("section", null, el("h3", null, "Now"), el("ul.commits", null, running)),
    gauge(summary.tokens), spending(summary), commitList(model, app.git || summary.git),
    agentList(model, (agent) => log.jump((entry) => entry.isBanner && entry.row.agent === agent, 1)
      || log.jump((entry) => entry.isBanner && entry.row.agent === agent, -1)), toolList(summary));
  timeline(byId("timeline"), model);
}

// ---- Search, jumps, keys

const JUMPS = {
  bad: (entry) => !entry.isBanner && (entry.row.failed || entry.row.kind === "error"),
  commit: (entry) => !entry.isBanner && (entry.row.kind === "commit" || entry.row.kind === "git"),
  agent: (entry) => entry.isBanner,
};

function jump(name, step) {
  const fits = JUMPS[name];
  if (!log.jump(fits, step)) byId("found").textContent = "no more";
  else byId("found").textContent = "";
}

function find(step) {
  const words = byId("find").value.toLowerCase();
  if (!words) return;
  const hits = (entry) => !entry.isBanner && wordsOf(entry.row).includes(words);
  byId("found").textContent = log.jump(hits, step, true) ? "" : "not found";
}

function showAll() {
  const button = byId("all");
  const isOn = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(isOn));
  log.rebuild(isOn);
}

function theme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  kept.set("theme", root.dataset.theme);
  timeline(byId("timeline"), app.model);
}

function tab(name) {
  const body = document.body;
  body.dataset.tab = body.dataset.tab === name ? "log" : name;
  for (const [id, of] of [["show-runs", "runs"], ["show-side", "side"]]) {
    byId(id).setAttribute("aria-pressed", String(body.dataset.tab === of));
  }
  if (name === "side") showSide();
}

function key(event) {
  const isText = /^(INPUT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") return event.target.blur();
  if (isText || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = event.shiftKey ? -1 : 1;
  const keys = {
    "/": () => byId("find").focus(), e: () => jump("bad", step), c: () => jump("commit", step),
    a: () => jump("agent", step), n: () => find(step), b: showAll, d: theme,
    f: () => log.follow(), g: () => { log.leave(); byId("log").scrollTop = 0; },
    j: () => log.jump((entry) => !entry.isBanner, 1), k: () => log.jump((entry) => !entry.isBanner, -1),
  };
  const act = keys[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
}

// A button that is pressed twice: once to be asked, once to do it.
function stop() {
  const button = byId("stop");
  const note = byId("talk-note");
  if (button.textContent === "Stop") {
    button.textContent = "Stop the run?";
    setTimeout(() => { button.textContent = "Stop"; }, 4000);
    return;
  }
  button.textContent = "Stop";
  note.textContent = "Stopping …";
  send("/api/runs/" + encodeURIComponent(app.run) + "/stop").then(() => { note.textContent = ""; },
    (error) => { note.textContent = error.message; });
}

function talk(event) {
  event.preventDefault();
  const field = byId("message");
  const note = byId("talk-note");
  if (!field.value.trim()) return;
  send("/api/runs/" + encodeURIComponent(app.run) + "/message", { text: field.value, when: "next" }).then(() => {
    field.value = "";
    note.textContent = "";
  }, (error) => { note.textContent = error.message; });
}

function listen() {
  const on = (id, name, act) => byId(id).addEventListener(name, act);
  on("follow", "click", () => log.follow());
  on("find", "keydown", (event) => { if (event.key === "Enter") find(event.shiftKey ? -1 : 1); });
  on("all", "click", showAll);
  on("theme", "click", theme);
  on("show-runs", "click", () => tab("runs"));
  on("show-side", "click", () => tab("side"));
  on("stop", "click", stop);
  on("talk", "submit", talk);
  on("message", "keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) talk(event); });
  on("notify", "click", async () => { await Notification.requestPermission(); byId("notify").hidden = true; });
  for (const button of document.querySelectorAll("[data-jump]")) {
    button.addEventListener("click", (event) => jump(button.dataset.jump, event.shiftKey ? -1 : 1));
  }
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", () => {
    const id = wanted().get("run");
    if (id && id !== app.run && !document.body.classList.contains("alone")) choose(id);
    else settled();
  });
}

if (kept.get("theme")) document.documentElement.dataset.theme = kept.get("theme");
listen();
begin();
setInterval(() => { if (app.run && !app.isOver && !later.runs) showRuns(); }, 30000);
