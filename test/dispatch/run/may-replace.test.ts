import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { taskErrorCodes } from "#contract";
import { type FailedAttempt, mayReplace } from "../../../src/dispatch/run/may-replace.ts";

const idle: FailedAttempt = {
  errorCode: "rate_limited",
  profile: "modify",
  isEnforced: true,
  reportsTools: true,
  hasCalledTool: false,
  hasChangedFiles: false,
  hasNewTree: false,
};

describe("mayReplace", () => {
  test.each<[string, Partial<FailedAttempt>, boolean]>([
    ["the program could not be started", { errorCode: "spawn_failed", hasChangedFiles: true, reportsTools: false }, true],
    ["the adapter was offline", { errorCode: "adapter_offline", hasChangedFiles: true, reportsTools: false }, true],
    ["a task that only reads is limited", { profile: "inspect", hasCalledTool: true, hasChangedFiles: true }, true],
    ["a task that should only read is limited, and its runtime does not enforce it", { profile: "inspect", isEnforced: false }, true],
    [
      "a task that should only read has called a tool, and its runtime does not enforce it",
      { profile: "inspect", isEnforced: false, hasCalledTool: true },
      false,
    ],
    ["a task that may edit has done nothing", {}, true],
    ["a task that may edit has called a tool", { hasCalledTool: true }, false],
    ["a task that may edit has changed a file", { hasChangedFiles: true }, false],
    ["a runtime does not report its tools", { reportsTools: false }, false],
    [
      "a task that gets a new work tree has called a tool and changed a file",
      { hasNewTree: true, hasCalledTool: true, hasChangedFiles: true },
      true,
    ],
    ["a task that gets a new work tree took too long", { hasNewTree: true, errorCode: "timeout" }, false],
    ["the model failed", { errorCode: "model_error" }, true],
    ["the task was canceled", { errorCode: "cancelled", profile: "inspect" }, false],
    ["the task took too long", { errorCode: "timeout", profile: "inspect" }, false],
    ["the runtime crashed", { errorCode: "runtime_crashed", profile: "inspect" }, false],
    ["the output is invalid", { errorCode: "output_invalid", profile: "inspect" }, false],
  ])("%s: %o", (_, facts, expected) => {
    expect(mayReplace({ ...idle, ...facts })).toBe(expected);
  });

  test("nothing follows a runtime that has started, may edit, and has called a tool or changed a file", () => {
    const facts = {
      errorCode: fc.constantFrom(...taskErrorCodes),
      ...{ isEnforced: fc.boolean(), reportsTools: fc.boolean(), hasCalledTool: fc.boolean(), hasChangedFiles: fc.boolean() },
    };
    const isSafe = (attempt: Omit<FailedAttempt, "profile" | "hasNewTree">): boolean => {
      const hasStarted = attempt.errorCode !== "adapter_offline" && attempt.errorCode !== "spawn_failed";
      const hasActed = attempt.hasCalledTool || attempt.hasChangedFiles || !attempt.reportsTools;
      return !(mayReplace({ ...attempt, profile: "modify", hasNewTree: false }) && hasStarted && hasActed);
    };
    fc.assert(fc.property(fc.record(facts), isSafe));
  });
});
