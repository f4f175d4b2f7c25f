import { expect, test } from "vitest";
import type { AdapterSetting } from "#contract";
import { catalog } from "../../adapters/index.ts";

const entries = catalog.flatMap((entry) => ("provider" in entry ? [entry] : []));

test.each(entries)("the module of $provider creates an adapter with that provider", async ({ provider, load }) => {
  const { createAdapter } = await load();
  expect(createAdapter().provider).toBe(provider);
});

test("adapters that share an environment variable share its declaration", () => {
  const declared = new Map<string, AdapterSetting>();
  for (const setting of catalog.flatMap(({ settings }) => Object.values(settings))) {
    expect(setting).toBe(declared.get(setting.variable) ?? setting);
    declared.set(setting.variable, setting);
  }
});
