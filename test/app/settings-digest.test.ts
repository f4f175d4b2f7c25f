import { expect, test } from "vitest";
import { catalog } from "../../adapters/index.ts";
import { createSettingsDigest } from "../../src/app/settings-digest.ts";
import { type Config, readConfig } from "../../src/config/config.ts";
import { listServerSettings } from "../../src/config/list-settings.ts";

const { config } = readConfig({}, catalog);
const digestOf = async (changed: Config, files: unknown = []): Promise<string> =>
  (await createSettingsDigest(changed, () => files)).current();
const [shared, perNode] = [true, false].map((isShared) => listServerSettings().filter(({ setting }) => setting.shared === isShared));

/** Copies the configuration with another value of a setting. */
function change([name = "", ...rest]: readonly string[], group: object = config): Config {
  const value = (group as Record<string, object | null>)[name] ?? {};
  return { ...group, [name]: rest.length === 0 ? "changed" : change(rest, value) } as unknown as Config;
}

test("the digest changes with each setting that all nodes share, and with the files", async () => {
  const digests = await Promise.all([
    digestOf(config),
    digestOf(config, ["a token"]),
    ...(shared ?? []).map(({ path }) => digestOf(change(path))),
  ]);
  expect(digests.length).toBeGreaterThan(20);
  expect(new Set(digests).size).toBe(digests.length);
});

test("the digest does not depend on settings of one node", async () => {
  const changed = (perNode ?? []).reduce((all, { path }) => change(path, all), config);
  expect(await digestOf(changed)).toBe(await digestOf(config));
});
