import { expect, test } from "vitest";
import { createLogger } from "../../src/app/create-logger.ts";

test("a log line contains no character that a terminal executes or hides, and still parses to the logged value", () => {
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => void lines.push(line) });
  const hostile = "\u001b[2J \u009b2J \u202eevil\u2028\u2029\u0085\u200b\ufeff\u007f\u{e0041} Grüße 漢字 🙂";
  logger.child({ detail: hostile }).warn({ [hostile]: hostile }, hostile);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
  expect(lines[0]).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(lines[0]).toContain("Grüße 漢字 🙂");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ detail: hostile, [hostile]: hostile, msg: hostile });
});
