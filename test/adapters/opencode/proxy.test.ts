import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { buildConfiguration } from "../../../adapters/opencode/configuration.ts";
import { planOpenCodeProxy } from "../../../adapters/opencode/proxy.ts";
import { createOpenCodeEnvironment } from "../../../adapters/opencode/start.ts";
import { programSettingsSchema } from "../../../adapters/shared/agent-program/settings.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const KEY = "sk-real";

function plan(env: Record<string, string>, settings = {}) {
  const planned = planOpenCodeProxy({ env, settings: programSettingsSchema.parse(settings) });
  if ("impossible" in planned) return { impossible: planned.impossible };
  const routes = Object.fromEntries(planned.routes.map((route) => [route.name, route]));
  const local = Object.fromEntries(
    planned.routes.map(({ name }) => [name, { baseUrl: `http://127.0.0.1:1/${name}`, key: `bridge-${name}` }]),
  );
  const applied = planned.apply(local);
  const configuration = buildConfiguration({ profile: "modify" }, applied, { permissions: {} });
  return {
    routes,
    configuration: JSON.parse(configuration),
    task: `${configuration}${JSON.stringify(createOpenCodeEnvironment(applied, "/tmp/t"))}`,
  };
}

test("every built-in provider with a key has its own route", () => {
  const { routes, configuration, task } = plan({
    ANTHROPIC_API_KEY: `${KEY}-a`,
    OPENAI_API_KEY: `${KEY}-o`,
    GEMINI_API_KEY: `${KEY}-g`,
    DEEPSEEK_API_KEY: `${KEY}-d`,
    ANTHROPIC_BASE_URL: "https://gw.example",
  });
  expect(Object.values(routes ?? {}).map(({ name, protocol, baseUrl, secret }) => [name, protocol, baseUrl, secret])).toEqual([
    ["anthropic", "anthropic", "https://gw.example/v1", `${KEY}-a`],
    ["openai", "openai", "https://api.openai.com/v1", `${KEY}-o`],
    ["google", "gemini", "https://generativelanguage.googleapis.com/v1beta", `${KEY}-g`],
    ["deepseek", "openai", "https://api.deepseek.com", `${KEY}-d`],
  ]);
  expect(configuration.provider.google.options).toEqual({ apiKey: "bridge-google", baseURL: "http://127.0.0.1:1/google" });
  expect(configuration.enabled_providers).toEqual(["anthropic", "openai", "google", "deepseek"]);
  expect(task).not.toContain(KEY);
});

test("credentials of the operator's own providers are resolved by Bridge, and do not reach the program", async () => {
  const file = path.join(await temporaryDirectory(), "key");
  await writeFile(file, `${KEY}-file\n`);
  const config = {
    model: "one/m",
    provider: {
      one: {
        npm: "@ai-sdk/openai-compatible",
        options: {
          baseURL: "{env:ONE_URL}/v1/",
          apiKey: `{file:${file}}`,
          headers: { "X-Team": "{env:TEAM}", "X-Fixed": `${KEY}-h` },
          timeout: 5,
        },
        models: { m: { cost: { input: 1, output: 2 } } },
      },
      two: { npm: "@ai-sdk/anthropic", api: "https://two.example/v1", env: ["TWO_KEY"] },
      unused: { npm: "@ai-sdk/openai", options: { baseURL: "https://three.example", apiKey: `${KEY}-unused` } },
    },
    disabled_providers: ["unused"],
  };
  const env = { ONE_URL: "https://one.example", TEAM: `${KEY}-team`, TWO_KEY: `${KEY}-two` };
  const { routes, configuration, task } = plan(env, { config, env: ["TEAM", "TWO_KEY"] });
  expect(routes?.["one"]).toEqual({
    name: "one",
    protocol: "openai",
    baseUrl: "https://one.example/v1",
    secret: `${KEY}-file`,
    headers: { "X-Team": `${KEY}-team`, "X-Fixed": `${KEY}-h` },
  });
  expect(routes?.["two"]).toMatchObject({ protocol: "anthropic", baseUrl: "https://two.example/v1", secret: `${KEY}-two` });
  expect(configuration.provider.one).toEqual({
    npm: "@ai-sdk/openai-compatible",
    options: { timeout: 5, apiKey: "bridge-one", baseURL: "http://127.0.0.1:1/one" },
    models: { m: { cost: { input: 1, output: 2 } } },
  });
  expect(Object.keys(configuration.provider)).toEqual(["one", "two"]);
  expect(task).not.toContain(KEY);
});

const own = (provider: object) => ({
  config: { provider: { own: { npm: "@ai-sdk/openai", options: { baseURL: "https://a.example" }, ...provider } } },
});

test.each([
  [{}, "no provider is configured"],
  [{ home: "user", ...own({}) }, "BRIDGE_OPENCODE_HOME is user"],
  [own({ npm: "@ai-sdk/amazon-bedrock" }), "does not support the package @ai-sdk/amazon-bedrock of the provider own"],
  [own({ npm: undefined }), "does not support the package of OpenCode of the provider own"],
  [own({ options: {} }), "the provider own has no address"],
  [own({ options: { baseURL: "https://a.example", authToken: "x" } }), "cannot replace the option authToken of the provider own"],
  [own({ models: { m: { headers: { a: "b" } } } }), "the model m of the provider own has its own address or headers"],
  [own({ options: { baseURL: "https://a.example", apiKey: "{file:./key}" } }), "the file ./key has no absolute path"],
  [own({ options: { baseURL: "https://a.example", apiKey: "{file:/nowhere/key}" } }), "/nowhere/key"],
])("the proxy is not possible with %j", (settings, reason) => {
  expect(plan({}, settings).impossible).toContain(reason);
});
