import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findCredentials } from "../../../adapters/opencode/credentials.ts";
import { find } from "../../../adapters/opencode/program.ts";
import { buildProviderConfig, chooseModel, findProviders, isPriced } from "../../../adapters/opencode/providers.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf } from "./fixtures.ts";

describe("providers", () => {
  test.each<[env: Record<string, string>, config: Record<string, unknown>, providers: string[]]>([
    [{}, {}, []],
    [{ ANTHROPIC_API_KEY: "" }, {}, []],
    [{ ANTHROPIC_BASE_URL: "http://gateway" }, {}, []],
    [{ ANTHROPIC_API_KEY: "k" }, {}, ["anthropic"]],
    [{ OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" }, {}, ["openai", "google"]],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, {}, ["google"]],
    [{ OPENROUTER_API_KEY: "k", GROQ_API_KEY: "k", MISTRAL_API_KEY: "k" }, {}, ["openrouter", "groq", "mistral"]],
    [{ XAI_API_KEY: "k", DEEPSEEK_API_KEY: "k" }, {}, ["xai", "deepseek"]],
    [{ OPENAI_API_KEY: "k" }, { provider: { mine: {}, openai: {} } }, ["mine", "openai"]],
    [{ OPENAI_API_KEY: "k", GROQ_API_KEY: "k" }, { disabled_providers: ["groq"] }, ["openai"]],
    [{ OPENAI_API_KEY: "k", GROQ_API_KEY: "k" }, { enabled_providers: ["groq", "opencode"] }, ["groq"]],
  ])("providers with the variables %j and the configuration %j are %j", (env, config, providers) => {
    expect(findProviders(contextOf({ config }, env))).toEqual(providers);
  });

  test.each([
    [
      { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://h/" },
      "anthropic",
      { apiKey: "{env:ANTHROPIC_API_KEY}", baseURL: "http://h/v1" },
    ],
    [{ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://h/v1" }, "openai", { apiKey: "{env:OPENAI_API_KEY}", baseURL: "http://h/v1" }],
    [{ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: "http://h" }, "google", { apiKey: "{env:GEMINI_API_KEY}", baseURL: "http://h/v1beta" }],
    [{ GEMINI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google", { apiKey: "{env:GOOGLE_GENERATIVE_AI_API_KEY}" }],
    [{ GROQ_API_KEY: "k" }, "groq", { apiKey: "{env:GROQ_API_KEY}" }],
  ])("providers are configured from %j with the key's variable name", (env, id, options) => {
    expect(buildProviderConfig(contextOf({}, env))).toEqual({ [id]: { options } });
  });

  test("providers are overridden by the operator's configuration", () => {
    const provider = { openai: { options: { baseURL: "http://mine" } }, mine: { npm: "@ai-sdk/openai-compatible" } };
    const config = buildProviderConfig(contextOf({ config: { provider } }, { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "http://other" }));
    expect(config).toEqual(provider);
  });

  test("providers are rejected if the configuration is not valid", () => {
    expect(() => findProviders(contextOf({ config: { provider: ["openai"] } }))).toThrow(
      /BRIDGE_OPENCODE_CONFIG is not a valid OpenCode configuration/,
    );
  });
});

describe("the model", () => {
  const one = { ANTHROPIC_API_KEY: "k" };
  const two = { ...one, OPENROUTER_API_KEY: "k" };
  test.each<[model: string | undefined, config: Record<string, unknown>, env: Record<string, string>, chosen: string | null]>([
    [undefined, {}, one, null],
    [undefined, { model: "anthropic/opus" }, one, "anthropic opus"],
    ["anthropic/sonnet", { model: "anthropic/opus" }, one, "anthropic sonnet"],
    ["sonnet", {}, one, "anthropic sonnet"],
    ["meta/llama", {}, { GROQ_API_KEY: "k" }, "groq meta/llama"],
    ["openrouter/meta/llama", {}, two, "openrouter meta/llama"],
  ])("named %s with the configuration %j and the variables %j is %s", (model, config, env, chosen) => {
    const found = chooseModel(model === undefined ? {} : { model }, contextOf({ config }, env));
    expect(found && `${found.providerID} ${found.modelID}`).toBe(chosen);
  });

  test.each([["sonnet"], ["anthropic"], ["meta/llama"], ["opencode/free"]])("%s is rejected as ambiguous with two providers", (model) => {
    expect(() => chooseModel({ model }, contextOf({}, two))).toThrow(/Use provider\/model with one of: anthropic, openrouter\./);
  });

  test("the model may name any provider with home: user", () => {
    const context = contextOf({ home: "user" }, {});
    expect(chooseModel({ model: "github-copilot/gpt" }, context)).toEqual({ providerID: "github-copilot", modelID: "gpt" });
    expect(() => chooseModel({ model: "gpt" }, context)).toThrow(/names no configured provider/);
    // This also applies with one key, because the model may belong to another provider.
    expect(() => chooseModel({ model: "gpt" }, contextOf({ home: "user" }))).toThrow(/names no configured provider/);
  });

  test("the model is priced if the operator configures its price, even a price of 0", () => {
    const models = { free: { cost: { input: 0, output: 0 } }, unknown: {} };
    const context = contextOf({ config: { provider: { mine: { models } } } });
    const priced = ["free", "unknown", "other"].map((modelID) => isPriced({ providerID: "mine", modelID }, context));
    expect(priced).toEqual([true, false, false]);
    expect(isPriced({ providerID: "anthropic", modelID: "free" }, context)).toBe(false);
  });
});

describe("credentials", () => {
  /** Checks credentials with a program that lists these models if HOME is the operator's home. */
  const credentialsWith = async (settings: object, env: Record<string, string> = {}, models = "") => {
    const directory = await temporaryDirectory();
    const program = path.join(directory, "opencode");
    const script = `[ "$1" = models ] && [ "$HOME" = "${directory}" ] && [ -n "$OPENCODE_CONFIG_CONTENT" ] && printf '${models}'`;
    writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const context = { ...contextOf(settings, { ...env, HOME: directory }), dataDir: path.join(directory, "data") };
    return await findCredentials("http-api", [program], context);
  };

  test("credentials are reported by provider and not by key", async () => {
    expect(await credentialsWith({}, { ANTHROPIC_API_KEY: "sk-secret" })).toEqual({ ok: true, detail: "providers: anthropic" });
  });

  test("credentials are reported as missing, with advice", async () => {
    const advice = expect.stringMatching(/^no provider: set ANTHROPIC_API_KEY.*BRIDGE_OPENCODE_HOME=user/);
    expect(await credentialsWith({}, {}, "anthropic/opus\\n")).toEqual({ ok: false, detail: advice });
    expect(await credentialsWith({ home: "user" })).toEqual({ ok: false, detail: advice });
  });

  test("credentials include the operator's logins with home: user", async () => {
    const models = "anthropic/opus\\n\\033[90mnot a model\\033[0m\\nopenrouter/meta/llama\\n";
    expect(await credentialsWith({ home: "user" }, {}, models)).toEqual({ ok: true, detail: "2 models of the operator's own logins" });
  });

  test("credentials are not ok with an invalid configuration", async () => {
    expect(await credentialsWith({ config: { model: 5 } })).toEqual({
      ok: false,
      detail: expect.stringContaining("BRIDGE_OPENCODE_CONFIG"),
    });
  });
});

test("a missing program is reported with the install command and the setting", () => {
  expect(find(contextOf({}, { PATH: "/nowhere" }))).toEqual({
    missing: expect.stringMatching(/npm install -g opencode-ai.*BRIDGE_OPENCODE_COMMAND/),
  });
});
