import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Writes a JavaScript program and returns its command. */
export async function writeTool(directory: string, source: string): Promise<string[]> {
  const file = path.join(directory, "tool.cjs");
  await writeFile(file, source);
  return [process.execPath, file];
}

/**
 * A tool that requires every line of its description in the document. It prints missing lines to stdout and exits with code 1.
 */
export const listTool = (items: readonly string[]): string => `
  const [question, topic, ...more] = process.argv.slice(2);
  const items = ${JSON.stringify(items)};
  if (question === "describe") console.log([["About", topic, ...more].join(" "), ...items].join("\\n"));
  else if (question === "params") console.log(["params of", topic, ...more].join(" "));
  else if (question === "--version") console.log("list-tool 4.2");
  else if (question === "validate") {
    const text = require("node:fs").readFileSync(topic, "utf8");
    const missing = items.filter((item) => !text.includes(item));
    for (const item of missing) console.log("missing: " + item);
    process.exitCode = missing.length === 0 ? 0 : 1;
  } else process.exitCode = 2;
`;

/**
 * A replacement of the program FlowMark with its documented behavior: a report in JSON, exit code 0 for no problems, 1 for warnings only, 2
 * for errors or wrong usage, and a crash on an unknown topic. Errors are the items that the document lacks, a warning is a missing title.
 */
export const flowmarkProgram = (items: readonly string[]): string => `
  const [question, topic, ...options] = process.argv.slice(2);
  const items = ${JSON.stringify(items)};
  const topics = { describe: { ai: "Write it in FlowMark.", "ai-source": "Write its source." }, params: { normalize: "normalize: strict" } };
  const usage = () => { console.error("usage: flowmark describe|params|validate"); process.exit(2); };
  if (question === "--version") console.log("0.1.6");
  else if (question === "describe" || question === "params") {
    if (options.join(" ") !== "--lang en") usage();
    console.log(topics[question][topic].toString());
  } else if (question === "validate") {
    const text = require("node:fs").readFileSync(topic, "utf8");
    const errors = items.filter((item) => !text.includes(item)).map((item) => ({ code: "E001", message: "missing " + item }));
    const warnings = text.startsWith("# ") ? [] : [{ code: "W001", message: "no title" }];
    console.log(JSON.stringify({ mode: "lenient", errors, warnings }, null, 2));
    process.exitCode = errors.length > 0 ? 2 : warnings.length > 0 ? 1 : 0;
  } else usage();
`;

/** Installs a program under a name in its own directory for PATH. */
export async function installProgram(directory: string, name: string, source: string): Promise<string> {
  const bin = path.join(directory, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, `${name}.cjs`), source);
  await writeFile(path.join(bin, name), `#!/bin/sh\nexec '${process.execPath}' '${path.join(bin, name)}.cjs' "$@"\n`);
  await chmod(path.join(bin, name), 0o755);
  return bin;
}
