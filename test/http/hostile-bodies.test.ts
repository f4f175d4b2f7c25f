import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { countBlocks } from "../support/count-blocks.ts";
import { makeHostileBodies, readBody } from "./hostile-bodies.ts";

/** Limit of executed blocks. V8's own work is not counted; `npm run bench -- bodies` measures it. */
const MAX_BLOCKS_PER_BYTE = 15;

let blocks: Readonly<Record<string, number>>;
beforeAll(async () => {
  blocks = await countBlocks(path.join(import.meta.dirname, "hostile-workloads.ts"));
});

test.each(makeHostileBodies())(
  "Bridge executes at most 15 blocks of code for each byte of a dispatch of $name",
  ({ name, bytes, status }) => {
    expect(readBody(bytes)).toBe(status);
    expect((blocks[name] as number) / bytes.length).toBeLessThanOrEqual(MAX_BLOCKS_PER_BYTE);
  },
);
