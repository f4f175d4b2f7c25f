import { expect, test } from "vitest";
import { createFaultLog } from "../../../../src/store/engines/sqlite/faults.ts";

const fault = (code: string) => Object.assign(new Error(code), { code });

test("a lasting fault is logged once per minute and code, and damage once", () => {
  let now = 0;
  const lines: string[] = [];
  const logger = { error: (fields: { err: Error; remedy?: string }) => lines.push(`${fields.err.message} ${fields.remedy ?? ""}`.trim()) };
  const log = createFaultLog({ file: "/data/bridge.db", logger: logger as never, clock: () => now });
  for (; now < 120_000; now += 500) {
    log(fault("SQLITE_FULL"));
    if (now >= 30_000 && now < 40_000) log(fault("SQLITE_IOERR_WRITE"));
    if (now >= 50_000) log(fault("SQLITE_CORRUPT"));
  }
  expect(lines).toEqual([
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    expect.stringMatching(/^SQLITE_CORRUPT Restore a backup: .*'\/data\/bridge\.db'/),
    "SQLITE_FULL",
  ]);
});
