import path from "node:path";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const demo = path.resolve(import.meta.dirname, "../../scripts/demo.ts");

test("the demo runs a task on a real program, from its preflight to the callback", async () => {
  const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
  onTestFinished(() => model.close());
  const env = {
    PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
    TMPDIR: await temporaryDirectory(),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "sk-of-the-runtime-suite",
  };
  const { exitCode, stdout, stderr } = await execa(process.execPath, [demo, "--provider", "claude"], {
    env,
    stdin: "ignore",
    reject: false,
    timeout: 60_000,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/ok {2}primary connection +acp: .*\d+\.\d+\.\d+/);
  expect(stdout).toMatch(/ok {2}authentication/);
  // The answer of the scripted model to a message without a scenario.
  expect(stdout).toMatch(/assistant\.text +"No scenario\."/);
  expect(stdout).toMatch(/signature ok, [\s\S]*status ok in \d+ ms:\n {4}No scenario\.\n.* \d+ tokens in, 30 out, US\$ 0\.\d+\n/);
  expect(model.requests.some(({ body }) => JSON.stringify(body).includes("Read docs/states.md"))).toBe(true);
});
