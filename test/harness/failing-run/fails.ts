import { appendFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const directory = process.env["FAILING_RUN_DIRECTORY"] ?? "";
/** How often each test fails before it passes. */
const failures = JSON.parse(process.env["FAILING_RUN_FAILURES"] ?? "[]") as number[];

describe("a group (of tests)", () => {
  test.each(failures.map((count, index) => [index, count]))("test %i fails [%i] times", (index, count) => {
    const file = path.join(directory, `runs-${index}`);
    const runs = existsSync(file) ? readFileSync(file, "utf8").length : 0;
    appendFileSync(file, "x");
    expect(`run ${runs}`).toBe(runs < count ? "another run" : `run ${runs}`);
  });
});
