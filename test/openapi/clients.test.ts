import { rm } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../support/start-bridge.ts";
import type { Outcome } from "./clients/outcome.ts";

const directory = path.join(import.meta.dirname, "clients");
const generators: [program: string, args: string[]][] = [
  ["openapi-typescript", ["../../../openapi.yaml", "--output", "generated/openapi-typescript/schema.ts"]],
  ["openapi-ts", ["--file", "openapi-ts.config.mjs"]],
  ["orval", ["--config", "orval.config.mjs"]],
];

const run = (file: string, args: readonly string[]) =>
  execa(file, args, { cwd: directory, stdin: "ignore", all: true, reject: false, preferLocal: true, localDir: directory });

let bridge: Bridge;
beforeAll(async () => {
  await rm(path.join(directory, "generated"), { recursive: true, force: true });
  for (const [program, args] of generators) {
    const { exitCode, all } = await run(program, args);
    expect(exitCode, `${program}: ${all}`).toBe(0);
  }
  bridge = await startBridge();
});
afterAll(() => bridge?.close());

test.each(["tsconfig.json", "tsconfig.hey-api.json"])("the clients and the programs that use them compile under %s", async (project) => {
  const compiler = path.join(import.meta.dirname, "../../node_modules/.bin/tsc");
  const { all } = await run(compiler, ["--project", project]);
  expect(all).toBe("");
});

test.each(["openapi-fetch", "hey-api", "orval"])("a client of %s dispatches, waits, lists, cancels and reads events", async (name) => {
  const { useClient } = (await import(path.join(directory, `${name}.ts`))) as {
    useClient(address: { url: string; token: string }): Promise<Outcome>;
  };
  expect(await useClient({ url: bridge.url, token: "secret-alpha" })).toEqual({
    accepted: { taskId: `${name}-1`, state: expect.stringMatching(/^(queued|running|completed)$/), location: `/api/v2/tasks/${name}-1` },
    waited: { state: "completed", output: "Hello." },
    listed: [`${name}-2`, `${name}-1`],
    cancelled: "cancelled",
    refused: "not_found",
    events: ["execution.started", "assistant.text Hello.", "execution.completed"],
  } satisfies Outcome);
});
