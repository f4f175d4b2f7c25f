import { expect, test } from "vitest";
import { checkAgentVersion } from "../../../adapters/codex/probe-codex.ts";

test.each(["2.5.0", "2.5.10", "1.10.0"])("codex-acp %s is rejected with the version to install", (version) => {
  expect(() => checkAgentVersion(version)).toThrow(`codex-acp ${version} does not support a provider with an API key. Run npm install`);
});

test.each(["2.6.0", "2.10.0", "10.0.0", null])("codex-acp %s is accepted", (version) => {
  expect(() => checkAgentVersion(version)).not.toThrow();
});
