#!/bin/sh
# The runtime of the crash test and the cluster test. The first word of the message selects its behavior. Records in the journal of its task
# when it starts, with the directory of its Bridge, and that it still runs. Times are seconds since the boot of the machine.
record() { # word
  read -r uptime idle < /proc/uptime
  echo "$1 $$ $uptime $TMPDIR" >> "$CRASH_TALLY/$BRIDGE_TASK_ID"
}

spend() { # US dollars: reports a call of a model
  echo "{\"type\":\"usage.reported\",\"model\":\"scripted\",\"usage\":{\"inputTokens\":8,\"outputTokens\":2},\"costUsd\":$1}"
}

read -r request
record start
spend 0.001

work() { # steps, pause: emits one progress event for each step
  for step in $(seq "$1"); do
    echo "{\"type\":\"execution.progress\",\"step\":$step}"
    spend 0.001
    sleep "$2"
    record beat
  done
}

case "$request" in
  *'"message":"slow'*) work 8 0.05 ;;
  *'"message":"long'*) work 25 0.1 ;;
  *'"message":"steady'*) work 160 0.1 ;;
  *'"message":"escape'*)
    # The child leaves the process group and the session, so it survives unless Bridge finds it.
    setsid sleep 600 < /dev/null > /dev/null 2>&1 &
    work 2 0.05
    ;;
  *'"message":"stubborn'*)
    setsid sh -c 'trap "" TERM; sleep 600' < /dev/null > /dev/null 2>&1 &
    work 1 0.05
    ;;
  *'"message":"greedy'*)
    # It does not stop at its maximum by itself.
    for step in $(seq 20); do
      spend 0.02
      sleep 0.1
      record beat
    done
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
