import type { BridgeClient } from "bridge-client";
import { expect, test } from "vitest";
import { checkCallback } from "../../src/doctor/check-callback.ts";

test("a check deletes what an earlier one has left behind, and no task of a caller who uses the name of its agent", async () => {
  const deleted: string[] = [];
  const left = "doctor-0b9c1a7e-6a0f-4f3b-9a68-1f2d3c4b5a69";
  const client = {
    checkDispatch: async () => ({ problem: null }),
    dispatch: async () => ({}),
    cancel: async () => ({}),
    waitForTask: async () => ({}),
    callbacks: { get: async () => ({ history: [{ error: null, status: 204, durationMs: 1, response: null }] }) },
    async deleteTask(taskId: string) {
      deleted.push(taskId);
    },
    async *listTasks() {
      for (const taskId of ["nightly", left, "doctor-nightly"]) yield { taskId };
    },
  } as unknown as BridgeClient;
  await checkCallback({ client, callbackUrl: "http://receiver.test", provider: "p", signal: new AbortController().signal });
  expect(deleted).toEqual([left, expect.stringMatching(/^doctor-[\da-f-]{36}$/)]);
});
