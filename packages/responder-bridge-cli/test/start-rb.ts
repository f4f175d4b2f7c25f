import path from "node:path";
import { execa } from "execa";
import { compileCache } from "../../../test/harness/compile-cache.ts";
import { type Answer, json } from "../../bridge-client/test/scripted-server.ts";

const program = path.resolve(import.meta.dirname, "../src/rb.ts");

/** Starts `rb` as a process in a directory with a minimal environment. */
export function startRb(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  return execa(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: "/usr/bin:/bin", ...compileCache, ...env },
    extendEnv: false,
    reject: false,
  });
}

/** Creates a model response with this document. */
export const document = (text: string): Answer =>
  json(200, { choices: [{ message: { role: "assistant", content: text }, finish_reason: "stop" }] });
