// The agent of the demo of work trees: it replaces a text in a file, and takes some time between reading and writing, as agents do.
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const THINKING_MS = 1000;

const emit = (type, fields) => process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
const { message } = JSON.parse(readFileSync(0, "utf8"));
const [, from, to, path] = /^Replace (\S+) by (\S+) in (\S+)$/.exec(message);

emit("tool.invoked", { toolCallId: "1", toolName: "read_file", input: { path } });
const text = readFileSync(path, "utf8");
emit("tool.completed", { toolCallId: "1", toolName: "read_file", output: `${text.length} bytes` });
await delay(THINKING_MS);
emit("tool.invoked", { toolCallId: "2", toolName: "edit_file", input: { path, from, to } });
writeFileSync(path, text.replace(from, to));
emit("tool.completed", { toolCallId: "2", toolName: "edit_file", output: "Written." });
emit("result", { status: "ok", output: `I have replaced ${from} by ${to}.` });
