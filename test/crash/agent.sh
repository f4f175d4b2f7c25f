#!/bin/sh
# The runtime of the crash test. The first word of the message selects its behavior. Records each start in a tally.
read -r request
echo $$ >> "$CRASH_TALLY/$BRIDGE_TASK_ID"

work() { # steps: emits one progress event every 50 ms
  for step in $(seq "$1"); do
    echo "{\"type\":\"execution.progress\",\"step\":$step}"
    sleep 0.05
  done
}

case "$request" in
  *'"message":"slow'*) work 8 ;;
  *'"message":"escape'*)
    # The child leaves the process group and the session, so it survives unless Bridge finds it.
    setsid sleep 600 < /dev/null > /dev/null 2>&1 &
    work 2
    ;;
  *'"message":"stubborn'*)
    setsid sh -c 'trap "" TERM; sleep 600' < /dev/null > /dev/null 2>&1 &
    work 1
    ;;
  *'"message":"fail'*)
    echo "this goes wrong"
    exit 3
    ;;
esac

echo '{"type":"tool.invoked","toolCallId":"1","toolName":"count","input":{}}'
echo '{"type":"tool.completed","toolCallId":"1","toolName":"count","output":1,"isError":false}'
# The process id makes the results of two runs of one task different.
echo "{\"type\":\"result\",\"output\":\"done by $$\"}"
