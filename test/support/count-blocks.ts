import { execFile } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const program = path.join(import.meta.dirname, "print-block-counts.ts");

/**
 * Runs each of the `workloads` that a file exports once, in another process, and returns how many blocks of JavaScript it executes: bodies
 * of functions, loops and branches. The number does not depend on the machine or its load. Code of V8 and Node is not counted.
 */
export async function countBlocks(file: string): Promise<Readonly<Record<string, number>>> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, pathToFileURL(file).href]);
  return JSON.parse(stdout) as Record<string, number>;
}
