import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { listInputs } from "#contract";
import { catalog } from "../../adapters/index.ts";
import { createDispatchSchema } from "../../src/requests/dispatch-schema.ts";
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
