import { expect, test } from "vitest";
import { refuseOldAgent } from "../../../adapters/codex/agent-version.ts";

test.each(["2.5.0", "2.5.10", "1.10.0"])("codex-acp %s is refused, with what to install", (version) => {
  expect(() => refuseOldAgent(version)).toThrow(`codex-acp ${version} is not supported, it takes no provider with a key: npm install`);
});

test.each(["2.6.0", "2.10.0", "10.0.0", null])("codex-acp %s is taken", (version) => {
  expect(() => refuseOldAgent(version)).not.toThrow();
});
