import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import type { AcpAgent } from "../../adapters/acp-agent/settings.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import type { Step } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { openAcpBench } from "./open-acp-bench.ts";
import { runtimesPath } from "./programs.ts";

// A real agent, configured as by an operator in BRIDGE_ACP_AGENTS: Bridge knows only the command that starts it.
const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const agent: AcpAgent = {
  command: ["claude-agent-acp"],
  env: ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"],
  home: "agent",
  modes: { inspect: "default", modify: "default" },
};
const env = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: "sk-of-the-runtime-suite",
};
const play = (...steps: Step[]): Partial<ExecutionRequest> => ({ message: model.scenario(steps) });

const open = () => openAcpBench("any", agent, env);

describe("claude-agent-acp, configured as an ACP agent", () => {
  test("claude-agent-acp, configured as an ACP agent answers, requests approvals, follows decisions, and resumes its session", async () => {
    const bench = await open();
    expect(await bench.adapter.checkHealth()).toMatchObject({ status: "healthy", connection: "acp", version: expect.stringMatching(/\d/) });
    expect(bench.adapter.capabilities().sessionResume).toBe(true);

    const asked = play({ say: "May I?", tools: [{ kind: "shell", command: "touch asked.txt" }] }, { text: "Well." });
    for (const decision of ["reject", "approve"] as const) {
      bench.answers.next = async () => ({ decision, reason: "for the test" });
      const task = await bench.start({ ...asked, profile: "modify", approvals: "ask" });
      expect(await task.result).toMatchObject({ status: "ok", output: "Well." });
      expect(existsSync(path.join(task.request.directories.cwd, "asked.txt"))).toBe(decision === "approve");
    }
    expect(bench.questions).toHaveLength(2);

    const first = play({ text: "I keep it." });
    const { resumeToken = "" } = (await bench.run({ ...first, message: `zebra-4711 ${first.message}` })).result;
    const second = await bench.run({ ...play({ recall: true }), resumeToken });
    expect(second.result).toMatchObject({ status: "ok", output: expect.stringContaining("zebra-4711"), resumeToken });
  });

  test("claude-agent-acp, configured as an ACP agent with profile inspect runs no tool that needs an approval, and uses the model of the dispatch", async () => {
    const bench = await open();
    const writes: Step = {
      tools: [
        { kind: "shell", command: "touch by-shell.txt" },
        { kind: "write", path: "by-write.txt", content: "x" },
      ],
    };
    const before = model.requests.length;
    const task = await bench.start({ ...play(writes, { text: "I tried." }), profile: "inspect", approvals: "allow", model: "sonnet" });
    expect(await task.result).toMatchObject({ status: "ok", output: "I tried.", model: "sonnet" });
    for (const file of ["by-shell.txt", "by-write.txt"]) expect(existsSync(path.join(task.request.directories.cwd, file))).toBe(false);
    const models = model.requests.slice(before).flatMap(({ body }) => (body as { model?: string } | null)?.model ?? []);
    expect(models.filter((name) => name.includes("sonnet"))).not.toEqual([]);
  });
});
