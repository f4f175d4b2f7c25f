import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import type { AdapterEvent, ExecutionRequest, ExecutionResult } from "#contract";
import { createCodexAdapter } from "../../adapters/codex/index.ts";
import { promptOpening } from "../../adapters/program/prompt.ts";
import { adapterConformance } from "../conformance/adapter.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../temporary-directory.ts";
import type { Step } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { runtimesPath } from "./programs.ts";

const model = await createModelServer({ messagePrefix: promptOpening });
afterAll(() => model.close());

const env = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  OPENAI_BASE_URL: `${model.url}/v1`,
  OPENAI_API_KEY: "sk-of-the-runtime-suite",
};
const connections = ["acp", "cli"] as const;
type Connection = (typeof connections)[number];
const mcpServer = path.join(import.meta.dirname, "table/mcp-server.js");
/** How one call of the scripted model is counted. */
const oneCall = { inputTokens: 130, outputTokens: 30, thinkingTokens: 5, cacheReadTokens: 20 };
/** Codex gives a model that it does not know plain tools; the models it knows write programs that call them. */
const plain = { model: "scripted-model" };
const play = (...steps: Step[]) => ({ ...plain, message: model.scenario(steps) });

for (const connection of connections) {
  adapterConformance(`codex over ${connection}`, {
    createAdapter: createCodexAdapter,
    config: { settings: { connection }, env },
    hasProcesses: true,
    patienceMs: 30_000,
    scenarios: {
      speak: (text) => play({ text }),
      echo: () => ({ ...plain, systemPrompt: model.scenario([{ echo: true }]) }),
      hang: () => play({ say: "I wait.", tools: [{ kind: "shell", command: "sleep 60" }] }),
      fail: { errorCode: "authentication_required", ask: () => play({ error: 401 }) },
      useTool: () =>
        play({ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, { text: "I have seen it, and that is all." }),
      resume: {
        remember: (text) => ({ ...plain, message: `${text} ${play({ text: "I keep it." }).message}` }),
        recall: () => play({ recall: true }),
        usagePerTurn: oneCall,
      },
      cost: null,
    },
  });
}
