import { readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { renderEnvironmentExample, renderSettingsTable } from "../../scripts/render-settings.ts";
import { listAllSettings, loadConfig } from "../../src/app/load-config.ts";

const allSettings = listAllSettings();
const repository = path.resolve(import.meta.dirname, "../..");

test("the example file and the table describe every setting once", () => {
  const names = Object.keys(allSettings);
  const inExample = renderEnvironmentExample(allSettings)
    .match(/^#[A-Z_]+(?==)/gm)
    ?.map((line) => line.slice(1));
  const inTable = renderSettingsTable(allSettings)
    .match(/^\| `[A-Z_]+`/gm)
    ?.map((cell) => cell.slice(3, -1));
  expect(inExample).toEqual(names);
  expect(inTable).toEqual(names);
  expect(renderEnvironmentExample(allSettings)).not.toMatch(/^# *$\n^#[A-Z_]+=/m);
});

test("the example file with every line uncommented results in the default configuration", () => {
  const uncommented = renderEnvironmentExample(allSettings).replaceAll(/^#(?=[A-Z_]+=)/gm, "");
  const { config, warnings } = loadConfig(parseEnv(uncommented));
  const { maxConcurrent, ...rest } = config;
  const { maxConcurrent: byDefault, ...defaults } = loadConfig({}).config;
  expect(rest).toEqual(defaults);
  expect(maxConcurrent("command")).toBe(byDefault("command"));
  expect(warnings).toEqual([]);
});

test("the committed example file matches the generated one", () => {
  expect(readFileSync(path.join(repository, ".env.example"), "utf8")).toBe(renderEnvironmentExample(allSettings));
});
