import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { toCurl } from "../../packages/console/src/dispatch-form.ts";

test("the curl command sends exactly the dispatch, whatever it contains", () => {
  const body = { agentId: "writer", message: 'It\'s "$HOME" `id` \\ \n new line' };
  const script = toCurl("http://127.0.0.1/x", body).replace(/^curl/, "printf '%s\\0'");
  const words = execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env: { BRIDGE_TOKEN: "t" } }).split("\0");
  expect(words).toEqual([
    "http://127.0.0.1/x",
    "-H",
    "Authorization: Bearer t",
    "-H",
    "Content-Type: application/json",
    "-d",
    JSON.stringify(body),
    "",
  ]);
});
