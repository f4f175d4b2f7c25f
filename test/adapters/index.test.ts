import { expect, test } from "vitest";
import { catalogue } from "../../adapters/index.ts";

test.each(Object.entries(catalogue))("the catalogue gives %s an adapter of that name", async (provider, load) => {
  const { createAdapter } = await load();
  expect(createAdapter().provider).toBe(provider);
});
