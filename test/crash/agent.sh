#!/bin/sh
# The runtime of the crash test: does what the first word of the message says, and keeps a tally of its starts.
read -r request
echo $$ >> "$CRASH_TALLY/$BRIDGE_TASK_ID"

work() { # steps: a story that takes 50 ms a step
  for step in $(seq "$1"); do
    echo "{\"type\":\"execution.progress\",\"step\":$step}"
    sleep 0.05
  done
}

case "$request" in
  *'"message":"slow'*) work 8 ;;
  *'"message":"escape'*)
    # Leaves the process group and the session, and would live on.
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
# The process id makes two runs of one task tell different results.
echo "{\"type\":\"result\",\"output\":\"done by $$\"}"
