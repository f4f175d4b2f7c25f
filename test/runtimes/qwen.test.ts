import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { ExecutionRequest } from "#contract";
import type { AcpAgent } from "../../adapters/acp-agent/settings.ts";
import { PROMPT_OPENING } from "../../adapters/shared/agent-program/prompt.ts";
import type { Step } from "./model-server/scenarios.ts";
import { createModelServer } from "./model-server/server.ts";
import { openAcpBench } from "./open-acp-bench.ts";
import { runtimesPath } from "./programs.ts";

// An agent that has no separate adapter in Bridge, with the configuration that docs/agent-programs.md shows.
const model = await createModelServer({ messagePrefix: PROMPT_OPENING });
afterAll(() => model.close());

const agent: AcpAgent = {
  command: ["qwen", "--acp"],
  env: ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"],
  home: "agent",
  modes: { inspect: "default", modify: "default" },
};
const environment = {
  PATH: `${runtimesPath()}${path.delimiter}${process.env["PATH"]}`,
  OPENAI_BASE_URL: `${model.url}/v1`,
  OPENAI_API_KEY: "sk-of-the-runtime-suite",
  OPENAI_MODEL: "scripted",
};
const play = (...steps: Step[]): Partial<ExecutionRequest> => ({ message: model.scenario(steps) });

const open = () => openAcpBench("qwen", agent, environment);

test("Qwen Code is healthy, requests an approval before a command, and follows the decision", async () => {
  const bench = await open();
  // The first start takes long, and Bridge repeats a failed check.
  await expect
    .poll(() => bench.adapter.checkHealth(), { timeout: 100_000 })
    .toMatchObject({ status: "healthy", connection: "acp", version: expect.stringMatching(/^\d/) });
  const asked = play({ say: "May I?", tools: [{ kind: "shell", command: "touch asked.txt" }] }, { text: "Well." });
  for (const decision of ["reject", "approve"] as const) {
    bench.answers.next = async () => ({ decision, reason: "for the test" });
    const task = await bench.start({ ...asked, profile: "modify", approvals: "ask" });
    // Qwen Code ends its turn when a call is rejected.
    expect(await task.result).toMatchObject({ status: "ok", output: decision === "approve" ? "Well." : "" });
    expect(existsSync(path.join(task.request.directories.cwd, "asked.txt"))).toBe(decision === "approve");
  }
  expect(bench.questions.map(({ toolName }) => toolName)).toEqual(["run_shell_command", "run_shell_command"]);
});

test("Qwen Code writes nothing with profile inspect", async () => {
  const bench = await open();
  const writes: Step = {
    tools: [
      { kind: "shell", command: "touch by-shell.txt" },
      { kind: "write", path: "by-write.txt", content: "x" },
    ],
  };
  const task = await bench.start({ ...play(writes, { text: "I tried." }), profile: "inspect", approvals: "deny" });
  expect(await task.result).toMatchObject({ status: "ok" });
  for (const file of ["by-shell.txt", "by-write.txt"]) expect(existsSync(path.join(task.request.directories.cwd, file))).toBe(false);
});

test("Qwen Code resumes its session", async () => {
  const bench = await open();
  const first = play({ text: "I keep it." });
  const { resumeToken = "" } = (await bench.run({ ...first, message: `zebra-4711 ${first.message}` })).result;
  const second = await bench.run({ ...play({ recall: true }), resumeToken });
  expect(second.result).toMatchObject({ status: "ok", output: expect.stringContaining("zebra-4711"), resumeToken });
});

test("Qwen Code stops when its task is canceled, and leaves no process", async () => {
  const bench = await open();
  const task = await bench.start({
    ...play({ tools: [{ kind: "shell", command: "sleep 3600" }] }, { text: "Never." }),
    profile: "modify",
    approvals: "allow",
  });
  await expect.poll(() => task.events.map(({ type }) => type), { timeout: 60_000 }).toContain("tool.invoked");
  await bench.adapter.cancel(task.request.taskId);
  expect(await task.result).toMatchObject({ status: "error", errorCode: "cancelled" });
});

test("Qwen Code fails with authentication_required if its endpoint rejects the key", async () => {
  const bench = await open();
  expect((await bench.run(play({ error: 401 }))).result).toMatchObject({ status: "error", errorCode: "authentication_required" });
});

test("the commands of Qwen Code see the trace of the task, and the requests to its model do not", async () => {
  const bench = await open();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  bench.answers.next = async () => ({ decision: "approve", reason: null });
  const command: Step = { tools: [{ kind: "shell", command: 'echo "$TRACEPARENT $TRACESTATE" > trace.txt' }] };
  const asked = play(command, { text: "It ran." });
  const task = await bench.start({ ...asked, profile: "modify", approvals: "ask", traceparent, tracestate: "congo=2" });
  expect(await task.result).toMatchObject({ status: "ok", output: "It ran." });
  expect(readFileSync(path.join(task.request.directories.cwd, "trace.txt"), "utf8")).toBe(`${traceparent} congo=2\n`);
  const ofTask = model.requests.filter(({ body }) => JSON.stringify(body).includes(String(asked.message)));
  expect(ofTask.length).toBeGreaterThan(0);
  expect(JSON.stringify(ofTask.map(({ headers }) => headers))).not.toContain(traceparent.slice(3, 35));
});
