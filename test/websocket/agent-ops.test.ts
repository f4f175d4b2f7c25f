import path from "node:path";
import { expect, test } from "vitest";
import { countBlocks } from "../support/count-blocks.ts";
import { FIELDS, runWithUnknownFields } from "./agent-run-workloads.ts";

test("agent.run executes at most 11 blocks of code for each of 49,900 unknown fields", async () => {
  await expect(runWithUnknownFields()).rejects.toMatchObject({ code: "invalid_request" });
  const { run = Number.NaN } = await countBlocks(path.join(import.meta.dirname, "agent-run-workloads.ts"));
  expect(run / FIELDS).toBeLessThanOrEqual(11);
});
