// An agent that asks before it writes: start Bridge with BRIDGE_COMMAND_APPROVALS=true, and dispatch with "approvals": "ask".
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Reads a line of stdin; null at its end. */
async function read() {
  const { value, done } = await lines.next();
  return done ? null : JSON.parse(value);
}

/** Asks whether a call may run. Without a decision, it may not. */
async function ask(call) {
  print({ type: "approval.request", ...call });
  for (;;) {
    const line = await read();
    if (line === null) return { decision: "reject", reason: "Bridge has closed stdin." };
    if (line.type === "approval.decision" && line.toolCallId === call.toolCallId) return line;
  }
}

const request = await read();
const call = { toolCallId: "write-1", toolName: "write_file", input: { path: "answer.md", content: `${request.message}\n` } };
print({ type: "tool.invoked", ...call });
const { decision, reason } = await ask(call);
const isApproved = decision === "approve";
if (isApproved) await writeFile(call.input.path, call.input.content);

const { toolCallId, toolName } = call;
print({ type: "tool.completed", toolCallId, toolName, output: isApproved ? "Written." : reason, isError: !isApproved });
print({ type: "result", status: "ok", output: isApproved ? "I wrote answer.md." : `I wrote nothing: ${reason}` });
process.stdin.destroy();
