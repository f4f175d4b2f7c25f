import { expect, test } from "vitest";
import { planGeminiProxy } from "../../../adapters/gemini/proxy.ts";
import { createGeminiEnvironment } from "../../../adapters/gemini/start.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";

const KEY = "real-key";

function plan(env: Record<string, string>, settings = {}) {
  const planned = planGeminiProxy({ env, settings: programSettingsSchema.parse(settings) });
  if ("impossible" in planned) return { impossible: planned.impossible };
  const applied = planned.apply({ gemini: { baseUrl: "http://127.0.0.1:1", key: "bridge-local" } });
  return { route: planned.routes[0], env: createGeminiEnvironment(applied) };
}

test("the program gets a local key and the address of the proxy", () => {
  const { route, env } = plan({ GEMINI_API_KEY: KEY });
  expect(route).toEqual({ name: "gemini", protocol: "gemini", baseUrl: "https://generativelanguage.googleapis.com", secret: KEY });
  expect(env).toMatchObject({ GEMINI_API_KEY: "bridge-local", GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1" });
});

test("no credential reaches the program, also if the operator names its variable", () => {
  const names = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"];
  const { env } = plan(Object.fromEntries(names.map((name) => [name, `/${KEY}`])), { env: names });
  expect(JSON.stringify(env)).not.toContain(KEY);
});

test.each([
  [{}, {}, "no credential is set. Set GEMINI_API_KEY."],
  [{ GEMINI_API_KEY: KEY }, { home: "user" }, "BRIDGE_GEMINI_HOME is user"],
  [{ GEMINI_API_KEY: KEY, GOOGLE_GENAI_USE_VERTEXAI: "true" }, {}, "GOOGLE_GENAI_USE_VERTEXAI is true"],
  [{ GEMINI_API_KEY: KEY, GOOGLE_GENAI_USE_GCA: "true" }, {}, "GOOGLE_GENAI_USE_GCA is true"],
  [{ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: "gateway" }, {}, "GOOGLE_GEMINI_BASE_URL is not an HTTP URL"],
] as [Record<string, string>, object, string][])("the proxy is not possible with %j and %j", (env, settings, reason) => {
  expect(plan(env, settings).impossible).toContain(reason);
});
