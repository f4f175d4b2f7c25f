import { expect, test } from "vitest";
import { createCodexEnvironment, createTaskConfiguration } from "../../../adapters/codex/configuration.ts";
import { planCodexProxy } from "../../../adapters/codex/proxy.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { programContext } from "../shared/agent-program/scripted-program.ts";

const KEY = "sk-real";

function plan(env: Record<string, string>, settings: object = {}) {
  const context = programContext("/data");
  const planned = planCodexProxy({ env, settings: { ...context.settings, ...settings } });
  if ("impossible" in planned) return { impossible: planned.impossible };
  const applied = { ...context, ...planned.apply({ openai: { baseUrl: "http://127.0.0.1:1/v1", key: "bridge-local" } }) };
  return {
    route: planned.routes[0],
    env: createCodexEnvironment(applied),
    configuration: createTaskConfiguration(createExecutionRequest("/w"), applied),
  };
}

test("the program gets a local key and the address of the proxy", () => {
  const { route, env, configuration } = plan({ OPENAI_API_KEY: KEY });
  expect(route).toEqual({ name: "openai", protocol: "openai", baseUrl: "https://api.openai.com/v1", secret: KEY });
  expect(env).toMatchObject({ OPENAI_API_KEY: "bridge-local" });
  expect(configuration).toMatchObject({ model_providers: { bridge: { base_url: "http://127.0.0.1:1/v1", env_key: "OPENAI_API_KEY" } } });
});

test("CODEX_API_KEY takes precedence, and no credential reaches the program, also if the operator names its variable", () => {
  const keys = { CODEX_API_KEY: `${KEY}-1`, OPENAI_API_KEY: `${KEY}-2` };
  const { route, env, configuration } = plan({ ...keys, OPENAI_BASE_URL: "https://gw.example/v1" }, { env: Object.keys(keys) });
  expect(route).toMatchObject({ baseUrl: "https://gw.example/v1", secret: `${KEY}-1` });
  expect(JSON.stringify([env, configuration])).not.toContain(KEY);
  expect(env).toMatchObject({ CODEX_API_KEY: "bridge-local" });
});

test("an endpoint without a key gets none", () => {
  const { route, env } = plan({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
  expect(route).toMatchObject({ secret: null });
  expect(env).toMatchObject({ OPENAI_API_KEY: "bridge-local" });
});

test.each([
  [{}, {}, "no credential is set"],
  [{}, { home: "user" }, "the login in the operator's home"],
  [{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "gateway" }, {}, "OPENAI_BASE_URL is not an HTTP URL"],
] as [Record<string, string>, object, string][])("the proxy is not possible with %j and %j", (env, settings, reason) => {
  expect(plan(env, settings).impossible).toContain(reason);
});
