#!/bin/sh
# A stand-in for the agent. What it does the Nth time that it is started for a
# task is in the file script/TASK.N, or in script/any, else it ends well.
case "$*" in
*--version*)
    echo "2.1.326 (Claude Code)"
    exit 0
    ;;
esac
mkdir -p "$CASE/seen"
echo start >>"$CASE/seen/$TASK.starts"
n=$(wc -l <"$CASE/seen/$TASK.starts" | tr -d ' ')
mkdir "$CASE/busy" || echo "$TASK.$n" >>"$CASE/overlap"
cat >"$CASE/seen/$TASK.$n.prompt"
echo "$*" >"$CASE/seen/$TASK.$n.args"
session=80f8ae6e-b027-4253-8e9c-1ffd717366a1

end() {
    rmdir "$CASE/busy"
    exit "$1"
}
init() {
    echo '{"type":"system","subtype":"init","session_id":"'$session'","model":"m","tools":[]}'
}
# A result: fields beside the usual ones, then its code.
result() {
    # What echo makes of a backslash differs.
    printf '%s\n' '{"type":"result","num_turns":'${turns-3}',"duration_ms":5,"session_id":"'$session'","total_cost_usd":0.01,"usage":{},'"$1"'}'
    end "$2"
}
error() {
    result '"subtype":"success","is_error":true,"result":"'"$1"'"'"${2-}" 1
}
good() {
    echo "$TASK" >>"$CASE/done"
    result '"subtype":"success","is_error":false,"result":"'"${1-ok}"'"' 0
}
init
if [ -e "$CASE/script/$TASK.$n" ]; then
    . "$CASE/script/$TASK.$n"
elif [ -e "$CASE/script/any" ]; then
    . "$CASE/script/any"
fi
good
