import { expect, test } from "vitest";
import { programSettingsSchema } from "../../../../adapters/shared/agent-program/settings.ts";
import { createClaudeEnvironment } from "../../../../adapters/shared/claude-code/environment.ts";
import { planClaudeProxy } from "../../../../adapters/shared/claude-code/proxy.ts";

const KEY = "sk-real";
const local = { anthropic: { baseUrl: "http://127.0.0.1:1/base", key: "bridge-local" } };

function plan(env: Record<string, string>, settings = {}) {
  const parsed = programSettingsSchema.parse(settings);
  const planned = planClaudeProxy({ env, settings: parsed }, "BRIDGE_CLAUDE_HOME");
  if ("impossible" in planned) return { impossible: planned.impossible };
  return { route: planned.routes[0], env: createClaudeEnvironment(planned.apply(local)) };
}

test.each(["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"])("the program gets a local key in %s", (name) => {
  const { route, env } = plan({ [name]: KEY });
  expect(route).toMatchObject({ protocol: "anthropic", baseUrl: "https://api.anthropic.com", secret: KEY });
  expect(env).toMatchObject({ [name]: "bridge-local", ANTHROPIC_BASE_URL: "http://127.0.0.1:1/base" });
});

test("no credential reaches the program, also if the operator names its variable", () => {
  const secrets = {
    ANTHROPIC_API_KEY: `${KEY}-1`,
    ANTHROPIC_AUTH_TOKEN: `${KEY}-2`,
    CLAUDE_CODE_OAUTH_TOKEN: `${KEY}-3`,
    ANTHROPIC_CUSTOM_HEADERS: `X-Team: ${KEY}-4\nAuthorization: Basic ${KEY}-5\nX-Api-Key: ${KEY}-6`,
  };
  const { route, env } = plan({ ...secrets, ANTHROPIC_BASE_URL: "https://gw.example/a" }, { env: Object.keys(secrets) });
  expect(JSON.stringify(env)).not.toContain(KEY);
  // Claude Code sends the key and the token, and both take precedence over the custom headers.
  expect(route).toEqual({
    name: "anthropic",
    protocol: "anthropic",
    baseUrl: "https://gw.example/a",
    secret: `${KEY}-1`,
    headers: { "x-team": `${KEY}-4`, authorization: `Bearer ${KEY}-2` },
  });
});

test("a credential in the custom headers alone is sent by the proxy", () => {
  const { route, env } = plan({ ANTHROPIC_CUSTOM_HEADERS: `authorization: Basic ${KEY}` });
  expect(route).toMatchObject({ secret: null, headers: { authorization: `Basic ${KEY}` } });
  expect(env).toMatchObject({ ANTHROPIC_API_KEY: "bridge-local" });
  expect(env).not.toHaveProperty("ANTHROPIC_CUSTOM_HEADERS");
});

test.each([
  [{}, {}, "no credential is set. Set ANTHROPIC_API_KEY"],
  [{ ANTHROPIC_API_KEY: KEY }, { home: "user" }, "BRIDGE_CLAUDE_HOME is user"],
  [{ ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_USE_BEDROCK: "1" }, {}, "CLAUDE_CODE_USE_BEDROCK is set"],
  [{ ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_USE_VERTEX: "1" }, {}, "CLAUDE_CODE_USE_VERTEX is set"],
  [{ ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_USE_FOUNDRY: "1" }, { env: ["CLAUDE_CODE_USE_FOUNDRY"] }, "CLAUDE_CODE_USE_FOUNDRY is set"],
  [{ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "gateway" }, {}, "ANTHROPIC_BASE_URL is not an HTTP URL"],
] as [Record<string, string>, object, string][])("the proxy is not possible with %j and %j", (env, settings, reason) => {
  expect(plan(env, settings).impossible).toContain(reason);
});
