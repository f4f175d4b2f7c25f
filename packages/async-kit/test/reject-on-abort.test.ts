import { getEventListeners } from "node:events";
import { rejectOnAbort } from "@hak2i/async-kit";
import { expect, test } from "vitest";

const reason = new Error("The caller aborted.");
const failure = new Error("The work failed.");
const never = () => new Promise<string>(() => {});

test.each<[what: string, abort: "before" | "after" | "never", work: () => Promise<string>, expected: PromiseSettledResult<string>]>([
  ["the result of the work is returned", "never", async () => "done", { status: "fulfilled", value: "done" }],
  ["an error of the work is thrown", "never", () => Promise.reject(failure), { status: "rejected", reason: failure }],
  ["an abort rejects with the signal's reason", "after", never, { status: "rejected", reason }],
  ["a signal that has aborted before rejects with its reason", "before", never, { status: "rejected", reason }],
  [
    "a signal that has aborted before comes first, also when the work is done",
    "before",
    async () => "done",
    { status: "rejected", reason },
  ],
  ["an error of the work after the abort is ignored", "before", () => Promise.reject(failure), { status: "rejected", reason }],
])("%s", async (_, abort, work, expected) => {
  const controller = new AbortController();
  if (abort === "before") controller.abort(reason);
  const result = Promise.allSettled([rejectOnAbort(work(), controller.signal)]);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
  if (abort === "after") controller.abort(reason);
  expect(await result).toEqual([expected]);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});

test("without a signal the result of the work is returned", async () => {
  expect(await rejectOnAbort(Promise.resolve("done"), undefined)).toBe("done");
  await expect(rejectOnAbort(Promise.reject(failure), undefined)).rejects.toBe(failure);
});
