import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import type { AdapterSetting } from "#contract";
import { catalog } from "../../adapters/index.ts";
import packageJson from "../../package.json" with { type: "json" };

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

test("importing the catalog loads the settings and the inputs of adapters, and no runtime", async () => {
  const file = path.resolve(import.meta.dirname, "../../adapters/index.ts");
  const script = `
    import { registerHooks } from "node:module";
    const urls = [];
    registerHooks({ load: (url, context, next) => { urls.push(url); return next(url, context); } });
    await import(${JSON.stringify(file)});
    console.log(JSON.stringify(urls));`;
  const { stdout } = await execa(process.execPath, ["--input-type=module", "--eval", script]);
  const urls = JSON.parse(stdout) as string[];
  const ofAdapters = urls.flatMap((url) => /\/adapters\/((?!shared\/)[^/]+\/.*)/.exec(url)?.[1] ?? []);
  expect(ofAdapters).toContain("claude/settings.ts");
  expect(ofAdapters.filter((name) => !/^[^/]+\/(settings|input)\.ts$/.test(name))).toEqual([]);
  const packages = new Set(urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));
  expect(Object.keys(packageJson.dependencies).filter((name) => packages.has(name))).toEqual(["zod"]);
});
