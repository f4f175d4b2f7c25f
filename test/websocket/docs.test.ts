import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { listInputs } from "#contract";
import { catalog } from "../../adapters/index.ts";
import { createDispatchSchema } from "../../src/requests/dispatch-schema.ts";
import { startBridge } from "../support/start-bridge.ts";
import { eventually } from "./eventually.ts";
import { createIdleOps } from "./idle-ops.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../../docs/websocket.md"), "utf8");

test.each(createIdleOps().map((op) => [op.name, op] as const))(
  "docs/websocket.md has a row for %s with its scope and every field",
  (name, { scope, payload }) => {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`)) ?? "";
    expect(row).toContain(`| \`${scope}\` |`);
    const { properties = {} } = z.toJSONSchema(payload, { unrepresentable: "any" });
    for (const field of Object.keys(properties)) expect(row).toContain(`\`${field}\``);
  },
);

test("docs/websocket.md has no unknown op", () => {
  const named = [...page.matchAll(/^\| `([a-z]+\.[a-z]+)` \|/gm)].map(([, name]) => name);
  expect(named).toEqual(createIdleOps().map(({ name }) => name));
});

test("docs/websocket.md names every field of agent.run", () => {
  const fields = Object.keys(createDispatchSchema(listInputs(catalog)).shape).filter((field) => field !== "agentId" && field !== "message");
  for (const field of ["agent", "input", ...fields]) expect(page).toContain(`\`${field}\``);
});

test("the example client in docs/websocket.md completes a run", async () => {
  const bridge = await startBridge();
  const { openBridge } = (await import("../../examples/browser/open-bridge.js" as string)) as {
    openBridge(
      url: string,
      createTicket: () => Promise<unknown>,
      onEvent?: (payload: { runId: string; event: { type: string } | null }) => void,
    ): Promise<{
      ask(op: string, payload?: unknown): Promise<{ status: number; payload: Record<string, unknown> }>;
      close(): void;
    }>;
  };
  const mint = async () => (await bridge.call("POST", "/api/v2/events/ticket")).body;
  const endpoint = `${bridge.url.replace("http", "ws")}/ws/bridge`;
  const seen: (string | undefined)[] = [];
  const client = await openBridge(endpoint, mint, ({ event }) => seen.push(event?.type));
  const run = { agent: "writer", input: "Hello.", provider: "memory", taskId: "t" };
  const answers = await Promise.all([client.ask("agent.run", run), client.ask("no.such"), client.ask("workspace.list")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200]);
  await eventually(async () => (await client.ask("agent.status", { runId: "t" })).payload["phase"]).toBe("completed");
  await client.ask("agent.run", { ...run, taskId: "followed", events: true });
  const { payload } = await client.ask("agent.result", { runId: "followed", waitSeconds: 20 });
  expect(payload).toMatchObject({ phase: "completed", result: { output: "Hello." } });
  await eventually(() => seen.at(-1)).toBe("execution.completed");
  expect(seen[0]).toBe("execution.started");
  await bridge.close();
  await expect(client.ask("workspace.list")).rejects.toThrow("closed");
  await expect(openBridge(endpoint, async () => ({ ticket: "none" }))).rejects.toThrow("The socket could not be opened.");
});
