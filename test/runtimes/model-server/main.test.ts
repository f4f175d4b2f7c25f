import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import type { Step } from "./scenarios.ts";
import { ask, wireClients } from "./wire-clients.ts";

test("the command prints its address and the markers of the scenarios, and serves them", async () => {
  const file = path.join(await temporaryDirectory(), "hello.json");
  await writeFile(file, JSON.stringify([{ text: "Hello by hand." }] satisfies Step[]));
  const program = execa("node", [path.join(import.meta.dirname, "main.ts"), "--port", "0", "--scenario", file], { reject: false });
  onTestFinished(async () => {
    program.kill();
    await program;
  });
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  const url = String((await lines.next()).value);
  const line = String((await lines.next()).value);
  expect(line).toBe(`[[scenario s1]] ${file}`);
  const { deltas } = await ask(url, wireClients.gemini, { turns: [{ user: line }] });
  expect(deltas.join("")).toBe("Hello by hand.");
});
