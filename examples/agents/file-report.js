#!/usr/bin/env node
// An agent without a model: it lists, reads and counts the files of its workspace and reports the result.
// The first line of the message may contain a pattern (`*.md`) and a word to search for (`count TODO`, `count "to do"`).
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";

const MAX_FILES = 200;
const MAX_DEPTH = 12;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_READ_BYTES = 32 * 1024 * 1024;
const SKIPPED = new Set([".git", "node_modules"]);

const request = JSON.parse(readFileSync(0, "utf8"));
const { pattern, word } = parseMessage(request.message);
let toolCalls = 0;

emit("execution.progress", { phase: "listing" });
const { files, more } = callTool("list_files", { path: ".", pattern: pattern ?? "*" }, () => listFiles(process.cwd()));
emit("execution.progress", { phase: "reading", files: files.length });
const counted = readFiles(files);
const facts = summarize(counted);
const report = writeReport(facts);
const fault = saveReport(request, report);
for (const line of report.split(/(?<=\n)/)) emit("assistant.text", { content: line });
emit(
  "result",
  fault === null ? { status: "ok", output: report, outputs: outputsFor(request.outputStrategy) } : { status: "error", ...fault },
);

/** Writes one line of the protocol: an event or the result. */
function emit(type, fields) {
  process.stdout.write(`${JSON.stringify({ type, ...fields })}\n`);
}

/** Runs a tool and emits an event before and after it. */
function callTool(toolName, input, run) {
  const toolCallId = `call-${++toolCalls}`;
  emit("tool.invoked", { toolCallId, toolName, input });
  try {
    const output = run();
    emit("tool.completed", { toolCallId, toolName, output, isError: false });
    return output;
  } catch (error) {
    emit("tool.completed", { toolCallId, toolName, output: String(error.message), isError: true });
    return null;
  }
}

function parseMessage(message) {
  const [firstLine = ""] = message.split("\n");
  const [, quoted, capitals] = /\b[Cc]ount\s+(?:["'`]([^"'`]+)["'`]|(\p{Lu}[\p{Lu}\d_]+)\b)/u.exec(firstLine) ?? [];
  const glob = firstLine.split(/[\s"'`,]+/).find((part) => /^[\w.*?-]*\*[\w.*?-]*$/.test(part));
  return { pattern: glob, word: quoted ?? capitals };
}

/** Lists regular files below a directory, sorted by name. Follows no links, because their targets may be outside. */
function listFiles(root) {
  const found = [];
  const visit = (directory, depth) => {
    const entries = readdirSync(path.join(root, directory), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (found.length > MAX_FILES) return;
      const name = path.join(directory, entry.name);
      if (entry.isDirectory() && depth < MAX_DEPTH && !SKIPPED.has(entry.name)) visit(name, depth + 1);
      if (entry.isFile() && matchesPattern(entry.name)) found.push(name);
    }
  };
  visit("", 0);
  return { files: found.slice(0, MAX_FILES), more: found.length > MAX_FILES };
}

function matchesPattern(name) {
  if (pattern === undefined) return true;
  const parts = pattern.split(/([*?])/).map((part) => ({ "*": ".*", "?": "." })[part] ?? part.replace(/[.+^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("")}$`, "u").test(name);
}

function readFiles(names) {
  let room = MAX_READ_BYTES;
  return names.flatMap((name) => {
    const count = callTool("read_file", { path: name }, () => countFile(name, Math.min(MAX_FILE_BYTES, room)));
    if (count === null) return [];
    room -= count.kind === "text" ? count.bytes : 0;
    return [{ name, ...count }];
  });
}

function countFile(name, limit) {
  const { size: bytes } = lstatSync(name);
  if (bytes > limit) return { kind: "large", bytes, lines: 0, words: 0, matches: 0 };
  const content = readFileSync(name);
  if (content.includes(0)) return { kind: "binary", bytes, lines: 0, words: 0, matches: 0 };
  const text = content.toString("utf8");
  return {
    kind: "text",
    bytes,
    lines: text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0),
    words: text.split(/\s+/).filter(Boolean).length,
    matches: word === undefined ? 0 : text.split(word).length - 1,
  };
}

function summarize(counts) {
  const sum = (field) => counts.reduce((total, count) => total + count[field], 0);
  const largest = [...counts].sort((a, b) => b.bytes - a.bytes).slice(0, 5);
  return {
    files: counts.length,
    complete: !more,
    lines: sum("lines"),
    words: sum("words"),
    bytes: sum("bytes"),
    largest: largest.map(({ name, bytes, lines }) => ({ path: name, bytes, lines })),
    ...(word !== undefined && { word, matches: sum("matches") }),
  };
}

function writeReport({ files: count, complete, lines, words, bytes, largest, matches }) {
  const title = pattern === undefined ? "Files of the workspace" : `Files of the workspace that match \`${pattern}\``;
  const totals = `${plural(count, "file")}${complete ? "" : " (there are more)"}, ${plural(lines, "line")}, ${plural(words, "word")}, ${plural(bytes, "byte")}.`;
  const found = word === undefined ? [] : ["", `\`${word}\` occurs ${plural(matches, "time")}.`];
  const table = largest.map((file) => `| ${file.path.replaceAll("|", "\\|")} | ${file.lines} | ${file.bytes} |`);
  return [
    `# ${title}`,
    "",
    totals,
    ...found,
    ...(table.length === 0 ? [] : ["", "| largest | lines | bytes |", "|---|---|---|", ...table]),
    "",
  ].join("\n");
}

function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** With the output strategy `file`, writes the report to the requested path, if the profile permits changes. */
function saveReport({ outputStrategy, profile, directories }, text) {
  if (outputStrategy.type !== "file") return null;
  if (profile === "inspect") return { errorCode: "output_invalid", error: "The profile inspect does not permit writing a file." };
  const saved = callTool("write_file", { path: outputStrategy.path }, () => {
    const workspace = realpathSync(directories.workspace);
    const file = path.resolve(workspace, outputStrategy.path);
    mkdirSync(path.dirname(file), { recursive: true });
    if (!`${realpathSync(path.dirname(file))}${path.sep}`.startsWith(workspace + path.sep))
      throw new Error("the path leads out of the workspace");
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) throw new Error("the path is a link");
    writeFileSync(file, text);
    return { bytes: Buffer.byteLength(text) };
  });
  return saved === null ? { errorCode: "output_invalid", error: `The file ${outputStrategy.path} could not be written.` } : null;
}

/** Returns all facts; with the output strategy `structured`, only those that the schema names. */
function outputsFor({ type, schema }) {
  const wanted = type === "structured" ? schema.properties : undefined;
  return wanted === undefined ? facts : Object.fromEntries(Object.entries(facts).filter(([name]) => Object.hasOwn(wanted, name)));
}
