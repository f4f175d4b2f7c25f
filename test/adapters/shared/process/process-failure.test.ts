import { describe, expect, test } from "vitest";
import { exitFailure, stopFailure } from "../../../../adapters/shared/process/process-failure.ts";
import type { ProcessEnd } from "../../../../adapters/shared/process/run-process.ts";

const exited = (changes: Partial<ProcessEnd> = {}): ProcessEnd => ({
  program: "agent",
  spawnError: null,
  exitCode: 0,
  exitSignal: null,
  aborted: false,
  limit: null,
  stderr: "",
  orphansKilled: 0,
  orphansLeft: 0,
  ...changes,
});

describe("stopFailure", () => {
  test.each([
    [{ spawnError: "ENOENT" }, "spawn_failed", "The program agent did not start: ENOENT"],
    [{ limit: "lineBytes" }, "output_limit", "The program agent wrote a line of more than 8 MiB, or of JSON with more than 50000 values."],
    [{ limit: "stdoutBytes" }, "output_limit", "The program agent wrote more than 32 MiB to stdout."],
  ] satisfies [Partial<ProcessEnd>, string, string][])("%j", (changes, errorCode, error) => {
    expect(stopFailure(exited(changes))).toEqual({ status: "error", errorCode, error });
  });

  test("stopFailure names the limits of the process", () => {
    const limits = { lineBytes: 1024 ** 2, stdoutBytes: 256 * 1024 ** 2 };
    expect(stopFailure(exited({ limit: "lineBytes" }), limits)?.error).toContain(" 1 MiB");
    expect(stopFailure(exited({ limit: "stdoutBytes" }), limits)?.error).toContain(" 256 MiB");
  });

  test.each([[{}], [{ exitCode: 7 }], [{ exitSignal: "SIGTERM", aborted: true }]] satisfies [Partial<ProcessEnd>][])(
    "stopFailure is undefined for %j",
    (changes) => {
      expect(stopFailure(exited(changes))).toBeNull();
    },
  );
});

describe("exitFailure", () => {
  test.each([
    [{ exitCode: 0 }, "runtime_crashed", "The program agent exited with code 0."],
    [{ exitCode: 3, stderr: " why \n" }, "runtime_crashed", "The program agent exited with code 3. why"],
    [{ exitCode: null, exitSignal: "SIGKILL" }, "runtime_crashed", "The program agent was killed by SIGKILL."],
    [{ exitCode: 1, aborted: true, stderr: "why" }, "cancelled", "The task was canceled."],
  ] satisfies [Partial<ProcessEnd>, string, string][])("%j", (changes, errorCode, error) => {
    expect(exitFailure(exited(changes))).toEqual({ status: "error", errorCode, error });
  });

  test("exitFailure shows only the end of a long stderr", () => {
    const { error } = exitFailure(exited({ exitCode: 1, stderr: `${"x".repeat(60_000)}the reason` }));
    expect(error).toHaveLength("The program agent exited with code 1. ".length + 4_000);
    expect(error).toMatch(/the reason$/);
  });
});
