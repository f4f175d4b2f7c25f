import type { Task } from "bridge-client";
import { expect, test } from "vitest";
import { longerLimit, suggestChange } from "../src/rerun.ts";

const failed = (errorCode: string, seconds = 600): Task => {
  const startedAt = "2026-11-23T10:00:00.000Z";
  const finishedAt = new Date(Date.parse(startedAt) + seconds * 1000).toISOString();
  return { taskId: "build", state: "failed", errorCode, startedAt, finishedAt } as Task;
};

test.each([
  ["that of the request", 90, 90, 180],
  ["its duration in whole minutes, because the limit of its agent is unknown", 1800.4, Number.NaN, 3600],
  ["a minute, if it ran shorter", 45, Number.NaN, 120],
  ["no more than a day", 50_000, 50_000, 86_400],
  ["nothing, after a day", 86_400, 86_400, null],
])("a longer limit is twice %s", (_, seconds, requested, longer) => {
  expect(longerLimit(failed("timeout", seconds), requested)).toBe(longer);
});

test("a task that ran into its limit gets a longer one, and the field names the reason", () => {
  expect(suggestChange(failed("timeout"), { timeoutSeconds: "600" })).toEqual({
    field: "timeoutSeconds",
    value: "1200",
    reason: "Twice as long as before, because build ran into its time limit.",
  });
  expect(suggestChange(failed("timeout"), { timeoutSeconds: "86400" })).toEqual({
    field: "timeoutSeconds",
    reason: "build has reached this limit, which is the longest one.",
  });
});

test.each([
  ["model_error", {}, "model"],
  ["output_invalid", { output: "structured" }, "outputSchema"],
  ["output_invalid", { output: "text" }, "message"],
  ["max_turns", {}, "message"],
])("after %s with %o, the advice stands at the field %s", (errorCode, values, field) => {
  const suggestion = suggestChange(failed(errorCode), values);
  expect(suggestion).toMatchObject({ field });
  expect(suggestion?.value).toBeUndefined();
  expect(suggestion?.reason).toMatch(new RegExp(`^build failed with ${errorCode}\\. [A-Z]`));
});

test("nothing is suggested if no field is the cause", () => {
  for (const errorCode of ["authentication_required", "cancelled", "constructor"]) expect(suggestChange(failed(errorCode), {})).toBeNull();
});
