-- Version 1 of the ledger's schema.
--
-- Facts are in tables with names in the singular. Their keys come from the agent
-- or from the run, so that recording a fact again changes nothing. Texts that
-- repeat are in `text_value`; the number 0 is the empty text and means "unknown".
-- Times are milliseconds since 1970, money is in billionths of a dollar, so that
-- sums are exact whatever the order.
--
-- `usage_sum` is derived from the facts and is what reports add up. The views at
-- the end have plain names and units, for people.

CREATE TABLE text_value (
    id INTEGER PRIMARY KEY,
    value TEXT NOT NULL UNIQUE
);
INSERT INTO text_value VALUES (0, '');

-- One answer of the model. The lines of one answer repeat its usage: each number
-- is the largest that was seen.
CREATE TABLE message (
    id INTEGER PRIMARY KEY,
    message_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    -- The session that counts it. A fork copies messages of another session.
    session INTEGER NOT NULL,
    -- What decides which session counts it: the smallest does.
    origin INTEGER NOT NULL,
    -- The subagent; 0 is the main thread.
    agent INTEGER NOT NULL,
    project INTEGER NOT NULL,
    model INTEGER NOT NULL,
    machine INTEGER NOT NULL,
    -- The times of its first and last line.
    at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    -- The id of its last line.
    uuid TEXT NOT NULL,
    -- Whether the answer came to its end; before that its output is provisional.
    is_final INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    -- Null: the log does not say how long the cache is kept.
    cache_creation_5m INTEGER,
    cache_creation_1h INTEGER,
    -- Null: no price is known.
    cost_nano INTEGER,
    is_estimate INTEGER NOT NULL,
    -- A line of a side chain. Such a line may repeat an answer of the main thread
    -- with another request: then there is only the main thread's.
    is_sidechain INTEGER NOT NULL,
    UNIQUE (message_id, request_id)
);
CREATE INDEX message_of_session ON message (session, at);

CREATE TABLE session (
    session INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    -- When the part of the session began that says its project.
    project_at INTEGER,
    machine INTEGER NOT NULL,
    first_at INTEGER,
    last_at INTEGER,
    cli_version INTEGER NOT NULL,
    -- It has messages that it does not count: another session counts them, or they
    -- were deleted. Its total, which counts them, is left out.
    is_partial INTEGER NOT NULL,
    -- `session_total` covers the messages up to this time.
    total_until INTEGER
);

-- The running total that the agent itself keeps in a log.
CREATE TABLE session_total (
    session INTEGER NOT NULL,
    model INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL,
    PRIMARY KEY (session, model)
) WITHOUT ROWID;

-- A prompt of a person, or of a program in place of one.
CREATE TABLE prompt (
    session INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (session, at)
) WITHOUT ROWID;

CREATE TABLE compaction (
    session INTEGER NOT NULL,
    at INTEGER NOT NULL,
    trigger_word TEXT NOT NULL,
    pre_tokens INTEGER,
    post_tokens INTEGER,
    PRIMARY KEY (session, at)
) WITHOUT ROWID;

CREATE TABLE tool_call (
    tool_use_id TEXT PRIMARY KEY,
    name INTEGER NOT NULL,
    project INTEGER NOT NULL,
    at INTEGER NOT NULL,
    failed INTEGER NOT NULL
) WITHOUT ROWID;

-- A run, from its summary.
CREATE TABLE run (
    run_key TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    session INTEGER NOT NULL,
    project INTEGER NOT NULL,
    model INTEGER NOT NULL,
    machine INTEGER NOT NULL,
    milestone TEXT NOT NULL,
    task TEXT NOT NULL,
    task_type TEXT NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    duration_ms INTEGER,
    outcome TEXT NOT NULL,
    code INTEGER,
    num_turns INTEGER,
    tool_calls INTEGER NOT NULL,
    cost_nano INTEGER,
    cost_source TEXT NOT NULL,
    context_used INTEGER,
    context_window INTEGER,
    context_at INTEGER,
    cache_ttl TEXT NOT NULL,
    compactions INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    last_uuid TEXT NOT NULL,
    messages_digest TEXT NOT NULL,
    commits INTEGER,
    changed_files INTEGER,
    insertions INTEGER,
    deletions INTEGER,
    end_sha TEXT NOT NULL,
    branch TEXT NOT NULL,
    cwd TEXT NOT NULL,
    run_dir TEXT NOT NULL,
    cli_version INTEGER NOT NULL,
    resume_command TEXT NOT NULL,
    retry_action TEXT NOT NULL,
    retry_at INTEGER,
    -- Decides between two summaries that are equal in all that matters.
    fingerprint INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX run_of_session ON run (session);
CREATE INDEX run_by_end ON run (ended_at);

CREATE TABLE run_session (
    run_key TEXT NOT NULL,
    session INTEGER NOT NULL,
    PRIMARY KEY (run_key, session)
) WITHOUT ROWID;
CREATE INDEX run_session_of_session ON run_session (session);

CREATE TABLE run_model (
    run_key TEXT NOT NULL,
    model INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    cache_creation_5m INTEGER,
    cache_creation_1h INTEGER,
    cost_nano INTEGER,
    PRIMARY KEY (run_key, model)
) WITHOUT ROWID;

CREATE TABLE run_tool (
    run_key TEXT NOT NULL,
    name INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (run_key, name)
) WITHOUT ROWID;

CREATE TABLE turn (
    run_key TEXT NOT NULL,
    number INTEGER NOT NULL,
    cause TEXT NOT NULL,
    outcome TEXT NOT NULL,
    context_used INTEGER,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    num_turns INTEGER,
    duration_ms INTEGER,
    cost_nano INTEGER,
    PRIMARY KEY (run_key, number)
) WITHOUT ROWID;

-- A reading of one of the account's usage windows.
CREATE TABLE quota_reading (
    machine INTEGER NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    used REAL,
    resets_at INTEGER,
    status TEXT NOT NULL,
    PRIMARY KEY (machine, name, at)
) WITHOUT ROWID;

CREATE TABLE milestone (
    milestone_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project INTEGER NOT NULL,
    machine INTEGER NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- The work plan of its first task.
    plan TEXT NOT NULL,
    -- The handoff at its end, for the milestone after it.
    handoff TEXT NOT NULL,
    -- The milestone whose handoff its first session begins with.
    previous TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- The sessions of a milestone, one after the other.
CREATE TABLE milestone_session (
    milestone_id TEXT NOT NULL,
    session INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    -- The handoff with which it began.
    handoff TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (milestone_id, session)
) WITHOUT ROWID;

-- A limit that the user set.
CREATE TABLE budget (
    -- day, project or milestone
    per TEXT NOT NULL,
    -- The project or milestone; empty for the day.
    name TEXT NOT NULL,
    -- usd, tokens or quota
    unit TEXT NOT NULL,
    amount REAL NOT NULL,
    PRIMARY KEY (per, name, unit)
) WITHOUT ROWID;

-- How far each log was read; of this machine alone.
CREATE TABLE log_file (
    path TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    read_to INTEGER NOT NULL,
    -- What the scanner needs to go on.
    state TEXT NOT NULL
) WITHOUT ROWID;

-- Derived: sums for a quarter of an hour, so that every time zone's days can be
-- added up from them. `source`: message; run (of a summary, as far as no message
-- covers it); session (of the agent's running total, as far as neither does).
CREATE TABLE usage_sum (
    quarter INTEGER NOT NULL,
    session INTEGER NOT NULL,
    project INTEGER NOT NULL,
    model INTEGER NOT NULL,
    machine INTEGER NOT NULL,
    is_agent INTEGER NOT NULL,
    source TEXT NOT NULL,
    messages INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    cache_creation_5m INTEGER NOT NULL,
    cache_creation_1h INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL,
    -- The part of the cost that comes from a table of prices.
    estimated_nano INTEGER NOT NULL,
    -- Messages, and rests of runs, without a price.
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (quarter, session, project, model, machine, is_agent, source)
) WITHOUT ROWID;
CREATE INDEX usage_of_session ON usage_sum (session);

CREATE VIEW usage AS
SELECT
    strftime('%Y-%m-%dT%H:%M:%SZ', quarter * 900, 'unixepoch') AS quarter_hour,
    nullif(s.value, '') AS session_id,
    nullif(p.value, '') AS project,
    m.value AS model,
    h.value AS machine,
    is_agent,
    source,
    messages,
    input AS input_tokens,
    output AS output_tokens,
    cache_read AS cache_read_tokens,
    cache_creation AS cache_creation_tokens,
    cache_creation_5m AS cache_creation_5m_tokens,
    cache_creation_1h AS cache_creation_1h_tokens,
    input + output + cache_read + cache_creation AS total_tokens,
    CASE WHEN cost_nano = 0 AND unpriced > 0 THEN NULL ELSE cost_nano / 1e9 END AS cost_usd,
    estimated_nano / 1e9 AS estimated_usd,
    unpriced
FROM usage_sum
JOIN text_value s ON s.id = session
JOIN text_value p ON p.id = project
JOIN text_value m ON m.id = model
JOIN text_value h ON h.id = usage_sum.machine;

CREATE VIEW messages AS
SELECT
    message_id,
    nullif(request_id, '') AS request_id,
    s.value AS session_id,
    nullif(a.value, '') AS agent_id,
    nullif(p.value, '') AS project,
    m.value AS model,
    h.value AS machine,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp,
    is_final,
    input AS input_tokens,
    output AS output_tokens,
    cache_read AS cache_read_tokens,
    cache_creation AS cache_creation_tokens,
    cache_creation_5m AS cache_creation_5m_tokens,
    cache_creation_1h AS cache_creation_1h_tokens,
    cost_nano / 1e9 AS cost_usd,
    CASE WHEN cost_nano IS NULL THEN 'none' WHEN is_estimate THEN 'estimate' ELSE 'log' END
        AS cost_source
FROM message
JOIN text_value s ON s.id = session
JOIN text_value a ON a.id = agent
JOIN text_value p ON p.id = project
JOIN text_value m ON m.id = model
JOIN text_value h ON h.id = message.machine;

-- How full the context of a session was after each answer of its main thread.
-- `total_tokens` is the context then, and not what was spent.
CREATE VIEW context_window_usage AS
SELECT
    message.id AS id,
    s.value AS session_id,
    (
        SELECT nullif(task, '') FROM run
        WHERE run.session = message.session
            AND message.at BETWEEN run.started_at - 1000 AND run.ended_at + 1000
        ORDER BY started_at DESC, run_key LIMIT 1
    ) AS task_id,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp,
    input AS input_tokens,
    cache_creation AS cache_creation_tokens,
    cache_read AS cache_read_tokens,
    output AS output_tokens,
    input + cache_creation + cache_read + output AS total_tokens,
    m.value AS model,
    (
        SELECT context_window FROM run
        WHERE run.model = message.model AND context_window IS NOT NULL
        ORDER BY ended_at DESC, context_window DESC LIMIT 1
    ) AS context_window,
    h.value AS machine
FROM message
JOIN text_value s ON s.id = session
JOIN text_value m ON m.id = model
JOIN text_value h ON h.id = message.machine
WHERE agent = 0;

CREATE VIEW sessions AS
SELECT
    session.session AS id,
    s.value AS session_id,
    nullif(p.value, '') AS project_id,
    (
        SELECT milestone_id FROM milestone_session ms
        WHERE ms.session = session.session ORDER BY started_at DESC, milestone_id LIMIT 1
    ) AS milestone_id,
    strftime('%Y-%m-%dT%H:%M:%fZ', session.first_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', session.last_at / 1000.0, 'unixepoch') AS ended_at,
    coalesce(
        (
            SELECT status FROM milestone_session ms
            WHERE ms.session = session.session ORDER BY started_at DESC, milestone_id LIMIT 1
        ),
        'completed'
    ) AS status,
    u.total_tokens,
    u.messages AS total_turns,
    CASE WHEN u.cost_nano = 0 AND u.unpriced > 0 THEN NULL ELSE u.cost_nano / 1e9 END
        AS total_cost_usd,
    (
        SELECT nullif(handoff, '') FROM milestone
        WHERE milestone_id = (
            SELECT milestone_id FROM milestone_session ms
            WHERE ms.session = session.session ORDER BY started_at DESC, milestone_id LIMIT 1
        )
    ) AS summary,
    h.value AS machine,
    nullif(v.value, '') AS cli_version,
    (SELECT count(*) FROM prompt WHERE prompt.session = session.session) AS prompts,
    (SELECT count(*) FROM compaction c WHERE c.session = session.session) AS compactions
FROM session
JOIN text_value s ON s.id = session.session
JOIN text_value p ON p.id = session.project
JOIN text_value h ON h.id = session.machine
JOIN text_value v ON v.id = session.cli_version
LEFT JOIN (
    SELECT
        session,
        sum(input + output + cache_read + cache_creation) AS total_tokens,
        sum(messages) AS messages,
        sum(cost_nano) AS cost_nano,
        sum(unpriced) AS unpriced
    FROM usage_sum GROUP BY session
) u ON u.session = session.session;

CREATE VIEW runs AS
SELECT
    nullif(run_id, '') AS run_id,
    nullif(s.value, '') AS session_id,
    nullif(p.value, '') AS project,
    nullif(m.value, '') AS model,
    h.value AS machine,
    nullif(milestone, '') AS milestone,
    nullif(task, '') AS task_id,
    nullif(task_type, '') AS task_type,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000.0, 'unixepoch') AS ended_at,
    duration_ms,
    nullif(outcome, '') AS outcome,
    code,
    num_turns,
    tool_calls,
    cost_nano / 1e9 AS cost_usd,
    cost_source,
    context_used,
    context_window,
    compactions,
    commits,
    changed_files,
    insertions,
    deletions,
    nullif(end_sha, '') AS end_sha,
    nullif(branch, '') AS branch,
    nullif(cwd, '') AS cwd,
    nullif(run_dir, '') AS run_dir,
    nullif(v.value, '') AS cli_version
FROM run
JOIN text_value s ON s.id = run.session
JOIN text_value p ON p.id = run.project
JOIN text_value m ON m.id = run.model
JOIN text_value h ON h.id = run.machine
JOIN text_value v ON v.id = run.cli_version;

CREATE VIEW turns AS
SELECT
    nullif(run.run_id, '') AS run_id,
    nullif(s.value, '') AS session_id,
    turn.number,
    nullif(turn.cause, '') AS cause,
    nullif(turn.outcome, '') AS outcome,
    turn.context_used,
    turn.input AS input_tokens,
    turn.output AS output_tokens,
    turn.cache_read AS cache_read_tokens,
    turn.cache_creation AS cache_creation_tokens,
    turn.num_turns,
    turn.duration_ms,
    turn.cost_nano / 1e9 AS cost_usd
FROM turn
JOIN run ON run.run_key = turn.run_key
JOIN text_value s ON s.id = run.session;

-- The tasks of plans and loops, one row for each; a task may have many runs.
CREATE VIEW tasks AS
SELECT
    task AS task_id,
    nullif(p.value, '') AS project,
    nullif(milestone, '') AS milestone,
    nullif(max(task_type), '') AS task_type,
    count(*) AS runs,
    max(CASE WHEN code = 0 THEN 1 ELSE 0 END) AS done,
    sum(num_turns) AS num_turns,
    sum(run.cost_nano) / 1e9 AS cost_usd,
    strftime('%Y-%m-%dT%H:%M:%fZ', min(started_at) / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', max(ended_at) / 1000.0, 'unixepoch') AS ended_at
FROM run
JOIN text_value p ON p.id = run.project
WHERE task <> ''
GROUP BY task, run.project, milestone;

CREATE VIEW milestones AS
SELECT
    milestone_id,
    name,
    nullif(p.value, '') AS project,
    h.value AS machine,
    status,
    strftime('%Y-%m-%dT%H:%M:%fZ', started_at / 1000.0, 'unixepoch') AS started_at,
    strftime('%Y-%m-%dT%H:%M:%fZ', ended_at / 1000.0, 'unixepoch') AS ended_at,
    nullif(handoff, '') AS handoff,
    nullif(previous, '') AS previous,
    (SELECT count(*) FROM milestone_session ms WHERE ms.milestone_id = milestone.milestone_id)
        AS sessions,
    (SELECT count(*) FROM run WHERE run.milestone = milestone.milestone_id) AS runs
FROM milestone
JOIN text_value p ON p.id = milestone.project
JOIN text_value h ON h.id = milestone.machine;

CREATE VIEW quota AS
SELECT
    name AS window,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS at,
    used,
    strftime('%Y-%m-%dT%H:%M:%fZ', resets_at / 1000.0, 'unixepoch') AS resets_at,
    nullif(status, '') AS status,
    h.value AS machine
FROM quota_reading
JOIN text_value h ON h.id = quota_reading.machine;

CREATE VIEW tools AS
SELECT
    n.value AS tool,
    nullif(p.value, '') AS project,
    strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch') AS timestamp,
    failed
FROM tool_call
JOIN text_value n ON n.id = name
JOIN text_value p ON p.id = project;
