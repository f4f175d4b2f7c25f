import { expect, test } from "vitest";
import { modelProxy, readProxyMode } from "../../../../adapters/shared/model-proxy/settings.ts";

test.each([
  ["off", "off", "off"],
  ["on", "on", "on"],
  ["on,gemini=off", "on", "off"],
  ["claude=required", "required", "off"],
  [" required , claude = on ", "on", "required"],
  ["", "off", "off"],
])("the value %j gives claude the mode %s, and gemini the mode %s", (text, claude, gemini) => {
  const value = modelProxy.schema.parse(text);
  expect([readProxyMode(value, "claude"), readProxyMode(value, "gemini")]).toEqual([claude, gemini]);
});

test("the proxy is off by default", () => {
  expect(modelProxy.schema.parse(undefined)).toBe("off");
});

test.each([
  ["yes", 'must be off, on or required, with modes of single adapters after commas, such as on,gemini=off; got "yes"'],
  ["on,claude=maybe", 'must be off, on or required, with modes of single adapters after commas, such as on,gemini=off; got "claude=maybe"'],
  ["on,cladue=off", 'no adapter "cladue" can use the model proxy; it can be one of claude, claude-agent-sdk, codex, gemini, opencode'],
  ["on,off", "must have only one mode for all adapters"],
  ["claude=on,claude=off", 'names the adapter "claude" more than once'],
])("the value %j is rejected", (text, message) => {
  expect(modelProxy.schema.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([message]);
});
