# The job of cr-filter: one line a tool call, text or commit. Runs with -r.
def flat: split("\n") | join("\\n");
def show($kind): "[--:--:--] \($kind): \(.)";
if .type == "assistant" then
  .message.content | arrays | .[] |
  if .type == "tool_use" then
    .name as $name | .input |
    if $name == "Read" or $name == "Edit" or $name == "Write" then .file_path | show($name)
    elif $name == "Bash" then .command[0:80] | flat | show("Bash")
    elif $name == "Grep" or $name == "Glob" then .pattern | show("Search")
    elif $name == "Task" or $name == "Agent" then .description | show("Subagent")
    else tojson[0:60] | show($name) end
  elif .type == "text" and (.text | length) > 20 then .text[0:200] | flat | show("Text")
  else empty end
elif .type == "user" then
  .message.content | arrays | .[] | select(.type == "tool_result") | .content | strings |
  select(startswith("[")) | split("\n")[0] |
  capture("^\\[[^]]* [0-9a-f]{7,40}\\] (?<subject>.*)") | .subject | show("Commit")
else empty end
