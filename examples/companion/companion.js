/**
 * Starts a run over Bridge's WebSocket, prints its text, and asks before each tool call that needs approval:
 * `BRIDGE_TOKEN=… node companion.js <agent> <input> [provider]`
 */
import { createInterface } from "node:readline";
import { connectBridge } from "bridge-client";

const [agent = "auditor", input = "What changed?", provider] = process.argv.slice(2);
const bridge = await connectBridge({ url: process.env.BRIDGE_URL ?? "http://127.0.0.1:8787", token: process.env.BRIDGE_TOKEN ?? "" });
const terminal = createInterface({ input: process.stdin });
const answers = terminal[Symbol.asyncIterator]();

// A read-only task needs no approvals, and the default adapter, `command`, rejects `approvals`.
const { runId } = await bridge.run({ agent, input, ...(provider && { provider, profile: "modify", approvals: "ask" }) });
process.once("SIGINT", () => void bridge.cancel(runId));
for await (const event of bridge.follow(runId)) {
  if (event.type === "assistant.text") process.stdout.write(makeVisible(event.data.content));
  if (event.type === "tool.approval_requested") await decide(event.data);
}
const { phase, result } = await bridge.result(runId);
console.log(`\n${phase}: ${makeVisible(result.output ?? result.error ?? "")}`);
process.exitCode = phase === "completed" ? 0 : 1;
terminal.close();
bridge.close();

async function decide(call) {
  console.log(makeVisible(`\nAllow ${call.toolName} ${JSON.stringify(call.input)}? [y/N]`));
  const { value } = await answers.next();
  const decision = value === "y" ? bridge.approve(call) : bridge.reject(call, "Rejected on the terminal.");
  // Another client may have decided before.
  await decision.catch(({ message }) => console.log(message));
}

/** Escapes characters that a terminal would obey or hide. */
function makeVisible(text) {
  return text.replace(/[^\P{C}\n\t]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);
}
