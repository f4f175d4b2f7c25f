import { expect, test } from "vitest";
import { scaled } from "../harness/machine.ts";
import { dispatchTask, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTreeSettings, listTrees } from "./tree-repository.ts";

const task = { agentId: "agent", provider: "command", profile: "modify", repository: { name: "web" } };
/** Time limit of a test, most of which git needs. */
const LIMIT_MS = 180_000;

async function runInTree(message: string) {
  const dataDir = await temporaryDirectory();
  const bridge = await startBridgeProgram(dataDir, createTreeSettings(dataDir).settings);
  await dispatchTask(bridge, { ...task, taskId: "large", message });
  const { repository } = await taskInState(bridge, "large", "completed", LIMIT_MS);
  await expect.poll(() => listTrees(dataDir)).toEqual([]);
  const get = async (part: string) => {
    const response = await bridge.call("GET", `/api/v2/tasks/large/${part}`);
    return { status: response.status, text: await response.text() };
  };
  return { repository, diff: await get("diff"), patch: await get("patch") };
}

test("100,000 new files are stored on the branch, and the patch contains each of them", { timeout: scaled(LIMIT_MS) }, async () => {
  const { repository, patch } = await runInTree("seq 1 100000 | split -l 1 -a 5 - f");
  expect(repository).toMatchObject({ commits: 1, files: 100_000, insertions: 100_000, error: null });
  expect(patch.text.match(/^\+\d+$/gm)).toHaveLength(100_000);
});

test("a file of 2 GiB is stored on the branch, and the diff names it", { timeout: scaled(LIMIT_MS) }, async () => {
  const { repository, diff, patch } = await runInTree("truncate -s 2G big.bin");
  expect(repository).toMatchObject({ commits: 1, files: 1, error: null });
  expect(diff.text).toContain("Binary files /dev/null and b/big.bin differ");
  expect(patch).toMatchObject({ status: 413, text: expect.stringContaining("A file is too large for git") });
});

test("a patch of more than 64 MiB is refused, with the way to get the branch", { timeout: scaled(LIMIT_MS) }, async () => {
  const { repository, patch } = await runInTree("yes 0123456789 | head -c 70000000 > long.txt");
  expect(repository).toMatchObject({ commits: 1, files: 1, error: null });
  expect(patch.status).toBe(413);
  const { detail } = JSON.parse(patch.text) as { detail: string };
  expect(detail).toMatch(/^The patch is larger than 64 MiB\. Dispatch the task with "push": true, and fetch its branch/);
});
