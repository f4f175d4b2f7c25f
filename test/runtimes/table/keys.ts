import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { CellBench } from "./cell-bench.ts";
import { KEY } from "./runtimes.ts";

/** Larger files contain the outputs of commands. */
const MAX_FILE_BYTES = 1024 ** 2;

/** Runs a task that prints its environment and the configuration of its runtime, and expects a local key instead of the real one. */
export async function expectNoKey(bench: CellBench): Promise<void> {
  const command = 'env; cat "$HOME"/.*/* "$TMPDIR"/* "$TMPDIR"/*/.*/* 2>/dev/null; true';
  const marker = bench.model.scenario([{ tools: [{ kind: "shell", command }] }, { text: "Printed." }]);
  const task = await bench.ended(await bench.dispatch({ message: `Print it. ${marker}`, profile: "modify" }));
  expect(task.result?.output).toBe("Printed.");
  const requests = bench.model.requests.filter(({ body }) => JSON.stringify(body).includes(marker));
  const seen = JSON.stringify(requests.map(({ body }) => body));
  expect(seen).toContain("TMPDIR=");
  expect(seen).not.toContain(KEY);
  expectKeyAtVendorOnly(bench);
}

/** Expects that the model got the real key in each request, and that no file of a task contains it. */
export function expectKeyAtVendorOnly({ model, dataDir }: CellBench): void {
  for (const { headers, path: target } of model.requests) {
    const sent = JSON.stringify([headers, target]);
    expect(sent).toContain(KEY);
    expect(sent).not.toMatch(/\bbridge-[\w-]{43}\b/);
  }
  expect(listFiles(dataDir).filter((file) => read(file).includes(KEY))).toEqual([]);
}

function listFiles(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** A file can disappear during the search. */
function read(file: string): string {
  try {
    return statSync(file).size > MAX_FILE_BYTES ? "" : readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
