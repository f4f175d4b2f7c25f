import { readSettings } from "bridge-council";
import { expect, test } from "vitest";
import type { CouncilTask } from "../../../adapters/council/council-kind.ts";
import { chooseModels, listSettingsNotes } from "../../../adapters/council/panel-council.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";

const gone = { model: "a/gone", reason: "not found in provider model list" };

test.each([
  ["the settings name none", undefined, {}, ["a/one"], [], []],
  ["the runtime lists all of them", undefined, { models: ["a/one", "a/two"] }, ["a/one", "a/two"], ["a/one", "a/two"], []],
  ["the runtime does not list one of two", undefined, { models: ["a/one", "a/gone"] }, ["a/one"], ["a/one"], [gone]],
  ["the runtime does not list the only one", undefined, { model: "a/gone" }, ["a/one"], [], [gone]],
  ["the runtime cannot list its models", undefined, { model: "a/gone" }, null, ["a/gone"], []],
  ["the dispatch names one", "b/mine", { model: "a/gone" }, ["a/one"], ["b/mine"], []],
] as const)("models are chosen if %s", async (_what, model, bridge, known, models, warnings) => {
  const task = {
    request: { ...(model === undefined ? {} : { model }) } as CouncilTask["request"],
    settings: readSettings(JSON.stringify({ bridges: { opencode: bridge } })),
    config: createAdapterConfig("/nowhere", { listModels: async (provider) => (provider === "opencode" ? known : expect.unreachable()) }),
  };
  expect(await chooseModels("opencode", task)).toEqual({ models, warnings });
});

const old = { updated: "2020-01-01T00:00:00Z", ttl_hours: 24 };
const unchecked = { model: "a/one", reason: "the settings are older than ttl_hours, and this runtime does not list its models" };

test.each([
  ["are checked if the runtime lists its models", ["a/two"], [], [{ model: "a/one", reason: gone.reason }]],
  ["are used with a warning if it does not", null, ["a/one"], [unchecked]],
])("models of stale settings %s, and a note reports it", async (_what, known, models, warnings) => {
  const settings = readSettings(JSON.stringify({ bridges: { opencode: { model: "a/one" } }, ...old }));
  const config = createAdapterConfig("/nowhere", { listModels: async () => known });
  expect(await chooseModels("opencode", { request: {} as CouncilTask["request"], settings, config })).toEqual({ models, warnings });
  expect(listSettingsNotes({ settings })).toEqual([expect.stringContaining(".bridge-settings.json is older than its ttl_hours.")]);
});

test("a note reports which runtimes use the reasoning level", () => {
  const settings = readSettings(JSON.stringify({ reasoning_level: "xhigh" }));
  expect(listSettingsNotes({ settings })).toEqual([expect.stringContaining('reasoning_level "xhigh" is passed to Codex.')]);
  expect(listSettingsNotes({ settings: readSettings(null) })).toEqual([]);
});
