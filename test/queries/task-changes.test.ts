import { expect, test } from "vitest";
import { createTaskChanges } from "../../src/queries/task-changes.ts";
import type { Store } from "../../src/store/store.ts";
import type { Workspaces } from "../../src/workspaces/workspace-directories.ts";

const stored = {
  task: { agentId: "coder", createdAt: 1, state: "completed", request: { repository: { name: "web", baseCommit: null } }, result: null },
};
const store = { findStoredTask: async () => stored } as unknown as Store;
const runGit = () => Promise.reject(new Error("This test runs no git."));

/** Reads changes that end only with their signal. */
const createEndless = (limitMs: number) => {
  const read = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const repositories = { readDiff: read, readPatch: read };
  return createTaskChanges({ store, repositories, workspaces: {} as Workspaces, runGit, limitMs });
};
const request = (signal = new AbortController().signal) => ({ reserve: async () => {}, signal });

test("a diff and a patch that take too long, also because they wait for their turn, are rejected with the limit", async () => {
  const changes = createEndless(20);
  const reads = [changes.readPatch("default", "a", request()), changes.readDiff("default", "a", request())];
  for (const read of await Promise.allSettled(reads))
    expect(read).toMatchObject({
      status: "rejected",
      reason: { code: "overloaded", message: expect.stringContaining("within 0.02 s") },
    });
});

test("a request whose client has left is not reported as overloaded", async () => {
  const controller = new AbortController();
  const reading = createEndless(60_000).readPatch("default", "a", request(controller.signal));
  controller.abort(new Error("The client has left."));
  await expect(reading).rejects.toThrow("The client has left.");
});
