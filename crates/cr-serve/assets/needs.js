// What needs a person: questions, failures, runs that wait.

async function send(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body ? JSON.stringify(body) : undefined,
  });
  if (!answer.ok) throw new Error((await answer.text()).trim() || "refused: " + answer.status);
}

// A button that does something once and says what became of it.
function action(text, kind, act, note) {
  const button = el("button." + kind, { onclick: async () => {
    button.disabled = true;
    note.textContent = "";
    try {
      await act();
    } catch (error) {
      note.textContent = error.message;
      button.disabled = false;
    }
  } }, text);
  return button;
}

// The buttons for a question; without control, the command that answers it.
function answerForm(ask, run, mayControl) {
  if (!mayControl) {
    const flag = ask.kind === "choice" ? " --answer " + ask.id + " CHOICE" : " --allow " + ask.id;
    return el("p.command", null, el("code", null, "cr-send " + run + flag));
  }
  const note = el("p.problem", { role: "status" });
  const field = el("input", { type: "text", "aria-label": ask.kind === "choice" ? "Another answer" : "Reason of a refusal",
    placeholder: ask.kind === "choice" ? "another answer" : "reason" });
  const answer = (decision, text) => send("/api/runs/" + encodeURIComponent(run) + "/answer",
    { id: ask.id, decision, text: text || null });
  const buttons = [];
  if (ask.kind === "choice") {
    const questions = ask.input && Array.isArray(ask.input.questions) ? ask.input.questions : [];
    for (const option of (questions[0] && questions[0].options) || []) {
      const name = typeof option === "string" ? option : option.label;
      if (name) buttons.push(action(visible(name), "choice", () => answer("choose", name), note));
    }
    buttons.push(field, action("Answer", "main", () => answer("choose", field.value), note));
  } else {
    buttons.push(action(ask.kind === "plan" ? "Approve" : "Allow", "main", () => answer("allow"), note));
    if (ask.kind !== "plan") buttons.push(action("Always", "choice", () => answer("allow_session"), note));
    buttons.push(field, action(ask.kind === "plan" ? "Reject" : "Deny", "danger", () => answer("deny", field.value), note));
  }
  return el("div.answers", null, buttons, note);
}

function askCard(ask, name, open, mayControl) {
  const input = ask.input && ask.input.command ? ask.input.command : null;
  return el("article.need.question", null,
    el("div.who", null, el("button.plain", { onclick: open }, visible(name)), el("span.took", null, ask.at ? ago(Date.parse(ask.at)) : "")),
    el("p", null, ask.tool && ask.kind === "permission" && el("strong", null, visible(ask.tool) + " "), visible(ask.text || "")),
    input && input !== ask.text && el("pre.output", { tabIndex: 0 }, visible(input)),
    answerForm(ask, ask.run, mayControl));
}

function failureCard(run, open, dismiss) {
  const when = run.started_at ? ago(Date.parse(run.started_at) + (run.seconds || 0) * 1000) : "";
  return el("article.need." + (run.code === 75 ? "hold" : "failure"), null,
    el("div.who", null, el("button.plain", { onclick: open }, visible(run.name || run.id)),
      el("span.badge", null, visible(run.outcome || run.state)), el("span.took", null, when),
      el("button.close", { onclick: dismiss, "aria-label": "Dismiss " + visible(run.name || run.id) }, "×")),
    run.why && el("p", null, visible(run.why)));
}

// Runs of the last day that ended badly, without those that were dismissed.
function failures(runs, dismissed) {
  const day = Date.now() - 86400000;
  return runs.filter((run) => {
    const isBad = run.state === "lost" || (run.state === "ended" && typeof run.code === "number" && run.code !== 0 && run.code !== 130);
    return isBad && !dismissed.has(run.id) && Date.parse(run.started_at) > day;
  });
}
