import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openSessionKeys } from "../../../adapters/openclaw/session-keys.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a session key belongs to one agent of one tenant of the Bridge that created it, also after a restart", async () => {
  const dataDir = path.join(await temporaryDirectory(), "openclaw");
  const keys = await openSessionKeys(dataDir);
  const key = keys.create("Dev", "/homes/a");
  expect(key).toMatch(/^agent:dev:bridge-[0-9a-f]{12}-[0-9a-f]{24}-[0-9a-f]{24}$/);
  expect(keys.create("Dev", "/homes/a")).not.toBe(key);
  const again = await openSessionKeys(dataDir);
  expect([again.belongs(key, "dev", "/homes/a"), again.isOurs(key)]).toEqual([true, true]);
  expect([again.belongs(key, "dev", "/homes/b"), again.belongs(key, "ops", "/homes/a")]).toEqual([false, false]);
  const other = await openSessionKeys(await temporaryDirectory());
  expect([other.belongs(key, "dev", "/homes/a"), other.isOurs(key)]).toEqual([false, false]);
  expect(readdirSync(dataDir)).toEqual(["session-secret"]);
  expect(statSync(path.join(dataDir, "session-secret")).mode & 0o777).toBe(0o600);
});

test.each(["", "agent:dev:main", "agent:dev:bridge-1", "--help", "agent:dev:bridge-0123456789ab-0-0"])(
  "the key %j belongs to no agent",
  async (key) => {
    const keys = await openSessionKeys(await temporaryDirectory());
    expect([keys.belongs(key, "dev", "/h"), keys.isOurs(key)]).toEqual([false, false]);
  },
);

test("two concurrent first calls create the same secret", async () => {
  const dataDir = await temporaryDirectory();
  const [one, two] = await Promise.all([openSessionKeys(dataDir), openSessionKeys(dataDir)]);
  expect(two.belongs(one.create("dev", "/h"), "dev", "/h")).toBe(true);
});
