# The job of cr-summarize: one object of the fields both can know. Runs with -n.
reduce inputs as $line (
  {session_id: null, model: null, tools: {}, usage: {}, results: 0, errors: 0};
  if $line.type == "assistant" then
    .model = $line.message.model |
    (if $line.parent_tool_use_id == null then .context = $line.message.usage else . end) |
    .usage[$line.message.id] = $line.message.usage |
    reduce ($line.message.content | arrays | .[] | select(.type == "tool_use") | .name) as $name
      (.; .tools[$name] += 1)
  elif $line.type == "user" then
    .errors += ([$line.message.content | arrays | .[] | select(.is_error == true)] | length)
  elif $line.type == "result" then
    .results += 1 | .result = $line.result | .cost_usd = $line.total_cost_usd |
    .num_turns = $line.num_turns | .is_error = $line.is_error | .session_id = $line.session_id |
    .models = $line.modelUsage | .denials = $line.permission_denials
  elif $line.type == "system" and $line.subtype == "init" then
    .session_id = $line.session_id | .cwd = $line.cwd
  else . end)
| .tool_calls = ([.tools[]] | add)
| .tokens = (reduce .usage[] as $u ({}; .input += $u.input_tokens | .output += $u.output_tokens
    | .cache_read += $u.cache_read_input_tokens | .cache_creation += $u.cache_creation_input_tokens))
| .context_used = (.context | .input_tokens + .cache_read_input_tokens + .cache_creation_input_tokens)
| del(.usage, .context)
