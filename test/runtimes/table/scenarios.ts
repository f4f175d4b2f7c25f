import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { EventEnvelope } from "#contract";
import { until } from "../../support/until.ts";
import type { Step } from "../model-server/scenarios.ts";
import { answerQuestion } from "./answer-question.ts";
import { type CellBench, markedProcesses, type ReportedTask } from "./cell-bench.ts";
import { expectProcessesEnded, untilAtWork } from "./processes.ts";
import { usageOfCalls } from "./usage.ts";
import { expectCooldown, usageLimits } from "./usage-limits.ts";

/** One row of the table: a scenario that every runtime should pass. */
export interface Scenario {
  name: string;
  /** Rejects if the runtime does not behave as the scenario requires. */
  play(bench: CellBench): Promise<void>;
}

const megabyte = "0123456789abcdef".repeat(65_536);
const unicode = 'Grüße 世界 👩‍🚀 e\u0301 \u202eabc\u202c "quoted" \\back\\ \t tab\nnext line';

/** A shell command that runs until it is killed, identified by its number of seconds. */
const sleepCommand = (seconds: number): Step => ({ say: "I will wait.", tools: [{ kind: "shell", command: `sleep ${seconds}` }] });

/** The rows of the table, in its order. */
export const scenarios: readonly Scenario[] = [
  {
    name: "text",
    async play(bench) {
      const { task, events } = await run(bench, [{ text: "Four words of text." }], { profile: "inspect" });
      expectOutput(bench, { task, events }, "Four words of text.");
      expect(task.result).toMatchObject({ connection: bench.connection });
      // OpenCode has configured prices: 1 and 2 dollars per million tokens.
      expect(task.result?.costUsd).toBeGreaterThan(0);
      const { capabilities } = await bench.adapter();
      // Bridge has prices for the models of all other runtimes, and uses them for the calls that it sees.
      const isPriced = bench.runtime !== "opencode" && (bench.hasProxy || capabilities["costTracking"] !== true);
      expect(task.result?.costSource).toBe(isPriced ? "priced" : "runtime");
      expect(task.result?.usage).toEqual(usageOfCalls(bench, 1));
    },
  },
  {
    name: "tool call",
    async play(bench) {
      const steps: Step[] = [{ say: "I will run it.", tools: [{ kind: "shell", command: "echo tool-was-here" }] }, { text: "It ran." }];
      const observed = await run(bench, steps, { profile: "modify" });
      expectOutput(bench, observed, "It ran.");
      const [tool] = toolsOf(observed.events);
      expect(toolsOf(observed.events)).toHaveLength(1);
      expect(tool).toMatchObject({ isError: false });
      expect(JSON.stringify(tool?.input)).toContain("echo tool-was-here");
      if (!(bench.runtime === "gemini" && bench.connection === "acp")) expect(JSON.stringify(tool?.output)).toContain("tool-was-here");
    },
  },
  {
    name: "denied tool",
    async play(bench) {
      const steps: Step[] = [{ tools: [{ kind: "shell", command: "touch denied.txt" }] }, { text: "It was refused." }];
      const { task, events } = await run(bench, steps, { profile: "inspect" });
      expect(task).toMatchObject({ state: "completed", result: { output: "It was refused." } });
      for (const tool of toolsOf(events)) expect(tool.isError).toBe(true);
      expect(existsSync(path.join(bench.workspace, "denied.txt"))).toBe(false);
    },
  },
  {
    name: "two tool calls",
    async play(bench) {
      const tools: [Tool, Tool] = [
        { kind: "shell", command: "echo first-tool" },
        { kind: "shell", command: "echo second-tool" },
      ];
      const observed = await run(bench, [{ tools }, { text: "Both ran." }], { profile: "modify" });
      expectOutput(bench, observed, "Both ran.");
      expect(toolsOf(observed.events).map(({ isError }) => isError)).toEqual([false, false]);
    },
  },
  {
    name: "three calls at once, with thinking",
    async play(bench) {
      const words = ["north", "east", "south"];
      const thought = "A thought that is not reported.";
      // The first command ends last.
      const tools = words.map((word, index): Tool => ({ kind: "shell", command: `sleep 0.${2 - index}; echo ${word}-was-here` }));
      const steps: Step[] = [
        { think: thought, say: "I think.", tools: tools as [Tool, ...Tool[]] },
        { think: thought, text: "All ran." },
      ];
      const observed = await run(bench, steps, { profile: "modify" });
      expectOutput(bench, observed, "All ran.");
      const ran = toolsOf(observed.events);
      expect(ran.map(({ isError }) => isError)).toEqual([false, false, false]);
      for (const word of words) {
        const tool = ran.find(({ input }) => JSON.stringify(input).includes(`echo ${word}`));
        // Gemini CLI does not report the output of a command over ACP.
        if (!(bench.runtime === "gemini" && bench.connection === "acp")) expect(JSON.stringify(tool?.output)).toContain(`${word}-was-here`);
      }
      expect(JSON.stringify([observed.task, observed.events])).not.toContain(thought);
      expect(observed.task.result?.usage).toEqual(usageOfCalls(bench, 2));
    },
  },
  {
    name: "conversation and output schema",
    async play(bench) {
      const steps: Step[] = [{ say: "I look.", tools: [{ kind: "shell", command: "echo seen" }] }, handIn(bench, '{"n": 1}')];
      const { task } = await run(bench, steps, { profile: "modify", outputSchema: schema });
      expect(task).toMatchObject({ state: "completed", result: { outputs: { n: 1 } } });
      const { output = "", conversationMessages = [] } = task.result ?? {};
      expect(JSON.parse(output)).toEqual({ n: 1 });
      expect(output).toMatch(/^\{.*\}$/);
      const texts = conversationMessages.filter(({ role }) => role === "assistant").map(({ content }) => content);
      expect(texts[0]).toContain("I look.");
      expect(texts.at(-1)).toContain(output);
      const never = Array.from({ length: 10 }, () => handIn(bench, '{"n": "one"}'));
      const unmet = await run(bench, never, { profile: "inspect", outputSchema: schema });
      expect(unmet.task).toMatchObject({ state: "failed", result: { errorCode: "output_invalid" } });
    },
  },
  {
    name: "resume",
    async play(bench) {
      const first = await run(bench, [{ text: "Kept." }], { message: "Keep the word zebra-4711.", profile: "inspect" });
      const resumeToken = first.task.result?.resumeToken;
      expect(resumeToken).toEqual(expect.any(String));
      const second = await run(bench, [{ recall: true }], { message: "Which word was it?", profile: "inspect", resumeToken });
      expect(second.task).toMatchObject({ state: "completed", result: { output: expect.stringContaining("zebra-4711") } });
      // The usage of this task, not of the session.
      expect(second.task.result?.usage).toEqual(bench.hasProxy ? usageOfCalls(bench, 1) : first.task.result?.usage);
      // The proxy counts calls that a program makes by itself, and not in every task.
      if (!bench.hasProxy && first.task.result?.costUsd !== undefined)
        expect(second.task.result?.costUsd).toBeCloseTo(first.task.result.costUsd, 6);
    },
  },
  {
    name: "usage over a resumed session",
    async play(bench) {
      const twoCalls: Step[] = [{ tools: [{ kind: "shell", command: "echo seen" }] }, { text: "Seen." }];
      const first = await run(bench, twoCalls, { profile: "modify" });
      expect(first.task.result?.usage).toEqual(usageOfCalls(bench, 2));
      const resumeToken = first.task.result?.resumeToken;
      const second = await run(bench, [{ text: "Again." }], { profile: "modify", resumeToken });
      expect(second.task.result?.usage).toEqual(usageOfCalls(bench, 1));
      const third = await run(bench, twoCalls, { profile: "modify", resumeToken });
      expect(third.task.result?.usage).toEqual(usageOfCalls(bench, 2));
    },
  },
  {
    name: "cancel in a tool",
    async play(bench) {
      for (const round of [0, 1]) {
        const seconds = [1, 2, 3, 4].map((number) => 4_711_000 + round * 10 + number);
        const taskIds = await Promise.all(
          seconds.map((count) => start(bench, [sleepCommand(count), { text: "Never." }], { profile: "modify" })),
        );
        const runs = taskIds.map((taskId, index) => ({ taskId, command: `sleep ${seconds[index]}` }));
        await Promise.all(runs.map(({ taskId, command }) => untilAtWork(bench, taskId, command)));
        for (const [index, { taskId }] of runs.entries()) {
          const startedAt = performance.now();
          await bench.cancel(taskId);
          await expectProcessesEnded(bench, taskId);
          bench.cancelMs.push(performance.now() - startedAt);
          expect(await bench.ended(taskId)).toMatchObject({ state: "cancelled", result: { errorCode: "cancelled" } });
          // Checks that each call has its end.
          toolsOf(await bench.events(taskId));
          // Canceling one task does not affect the others.
          for (const other of runs.slice(index + 1)) await untilAtWork(bench, other.taskId, other.command);
        }
      }
    },
  },
  {
    name: "timeout",
    async play(bench) {
      const { task } = await run(bench, [{ hang: true }], { timeoutSeconds: 5 });
      expect(task).toMatchObject({ state: "failed", result: { errorCode: "timeout" } });
    },
  },
  failure("401", 401, "authentication_required"),
  failure("429", 429, "rate_limited"),
  {
    name: "usage limit",
    async play(bench) {
      // A success ends the cooldown that an earlier row has begun. Otherwise the next one would be twice as long.
      expectOutput(bench, await run(bench, [{ text: "Before." }], { profile: "inspect" }), "Before.");
      for (const limit of usageLimits(bench)) {
        const { task } = await run(bench, [limit], { profile: "inspect", timeoutSeconds: 150 });
        expect(task).toMatchObject({ state: "failed", result: { errorCode: "rate_limited", error: expect.stringMatching(/\w/) } });
        expect(task.result?.output ?? "").toBe("");
        await expectCooldown(bench);
        // A task without fallbacks runs although its adapter cools down, and its success ends the cooldown.
        expectOutput(bench, await run(bench, [{ text: "Again." }], { profile: "inspect" }), "Again.");
        expect(await bench.adapter()).toMatchObject({ cooldownUntil: null });
      }
    },
  },
  {
    name: "notice of a limit instead of an answer",
    async play(bench) {
      const notice = "You've hit your session limit · resets 3pm (UTC)";
      const { task } = await run(bench, [{ text: notice }], { profile: "inspect" });
      expect(task).toMatchObject({ state: "failed", result: { errorCode: "rate_limited", error: expect.stringContaining(notice) } });
      expect(await bench.adapter()).toMatchObject({ cooldownUntil: expect.stringContaining("T15:00:00") });
      const answer = `The log contains one warning: ${notice}`;
      expectOutput(bench, await run(bench, [{ text: answer }], { profile: "inspect" }), answer);
    },
  },
  failure("500", 500, "model_error"),
  {
    name: "hang",
    async play(bench) {
      const { capabilities } = await bench.adapter();
      // A runtime without streaming cannot be distinguished from a hanging one except by time.
      const streams = capabilities["streaming"] === true;
      const { task } = await run(bench, [{ hang: true, say: "I begin" }], { timeoutSeconds: streams ? 90 : 10 });
      expect(task).toMatchObject({ state: "failed", result: { errorCode: streams ? "idle_timeout" : "timeout" } });
    },
  },
  {
    name: "silent command",
    async play(bench) {
      // The limit for silence has passed when the other task, whose model hangs, ends because of it.
      const [started, released] = ["started.txt", "released.txt"].map((name) => path.join(bench.workspace, name)) as [string, string];
      const command = "touch started.txt; while [ ! -e released.txt ]; do sleep 0.2; done; echo built-at-last";
      const taskId = await start(bench, [{ tools: [{ kind: "shell", command }] }, { text: "It is built." }], {
        profile: "modify",
        timeoutSeconds: 170,
      });
      expect(await until(() => existsSync(started), 60_000)).toBe(true);
      const { capabilities } = await bench.adapter();
      const streams = capabilities["streaming"] === true;
      const { task } = await run(bench, [{ hang: true, say: "I begin" }], { timeoutSeconds: streams ? 90 : 40 });
      expect(task.result?.errorCode).toBe(streams ? "idle_timeout" : "timeout");
      writeFileSync(released, "");
      const ended = { task: await bench.ended(taskId), events: await bench.events(taskId) };
      for (const file of [started, released]) rmSync(file);
      expectOutput(bench, ended, "It is built.");
      expect(toolsOf(ended.events)).toHaveLength(1);
    },
  },
  {
    name: "10 MB of output of a command",
    async play(bench) {
      const steps: Step[] = [{ tools: [{ kind: "shell", command: "seq 1 1300000" }] }, { text: "It counted." }];
      const observed = await run(bench, steps, { profile: "modify" });
      expectOutput(bench, observed, "It counted.");
      expect(toolsOf(observed.events).map(({ isError }) => isError)).toEqual([false]);
    },
  },
  {
    name: "file output",
    async play(bench) {
      const file = path.join(bench.workspace, "report.md");
      const outputStrategy = { type: "file", path: "report.md" };
      const steps: Step[] = [{ tools: [{ kind: "write", path: file, content: "Report of Monday\n" }] }, { text: "Written." }];
      const first = await run(bench, steps, { profile: "modify", outputStrategy });
      expect(first.task).toMatchObject({ state: "completed", result: { output: "Report of Monday\n" } });
      const second = await run(bench, [{ text: "There is no report today." }], { profile: "modify", outputStrategy });
      expect(second.task).toMatchObject({ state: "failed", result: { errorCode: "output_invalid" } });
      rmSync(file);
    },
  },
  {
    name: "killed program",
    async play(bench) {
      const taskId = await start(bench, [sleepCommand(4_712_001), { text: "Never." }], { profile: "modify" });
      await untilAtWork(bench, taskId, "sleep 4712001");
      const processes = markedProcesses(bench.dataDir, taskId);
      // The only one that no process of the task has started.
      const [program] = processes.filter(({ parent }) => processes.every(({ pid }) => pid !== parent));
      expect(program).toBeDefined();
      process.kill(program?.pid as number, "SIGKILL");
      expect(await bench.ended(taskId)).toMatchObject({ state: "failed", result: { errorCode: "runtime_crashed" } });
    },
  },
  {
    name: "`inspect` cannot write",
    async play(bench) {
      const outside = path.join(bench.outside, "written.txt");
      const steps: Step[] = [
        { tools: [{ kind: "write", path: path.join(bench.workspace, "written.txt"), content: "by a file tool\n" }] },
        { tools: [{ kind: "shell", command: `echo by-shell > shell.txt; echo by-shell > ${outside}` }] },
        { text: "I have tried." },
      ];
      // Approval requests are rejected, even if the dispatch has approvals allow.
      for (const approvals of ["deny", "allow"]) {
        const { task } = await run(bench, steps, { profile: "inspect", approvals });
        expect(task).toMatchObject({ state: "completed", result: { output: "I have tried." } });
        for (const file of ["written.txt", "shell.txt"]) expect(existsSync(path.join(bench.workspace, file))).toBe(false);
        expect(existsSync(outside)).toBe(false);
      }
    },
  },
  {
    name: "`modify` can",
    async play(bench) {
      const file = path.join(bench.workspace, "made.txt");
      const steps: Step[] = [{ tools: [{ kind: "write", path: file, content: "made by a tool\n" }] }, { text: "Written." }];
      const observed = await run(bench, steps, { profile: "modify" });
      expectOutput(bench, observed, "Written.");
      expect(readFileSync(file, "utf8")).toBe("made by a tool\n");
    },
  },
  {
    name: "approvals",
    async play(bench) {
      const tools = ["approve", "reject"].map((word): Tool => ({ kind: "shell", command: `sh -c 'echo ran > to-${word}.txt'` }));
      const steps: Step[] = [...tools.map((tool): Step => ({ tools: [tool] })), { text: "I have asked." }];
      const taskId = await start(bench, steps, { profile: "modify", approvals: "ask" });
      for (const decision of ["approve", "reject"]) await answerQuestion(bench, taskId, decision);
      expect(await bench.ended(taskId)).toMatchObject({ state: "completed", result: { output: "I have asked." } });
      expect(["to-approve.txt", "to-reject.txt"].map((name) => existsSync(path.join(bench.workspace, name)))).toEqual([true, false]);
      expect(toolsOf(await bench.events(taskId)).map(({ isError }) => isError)).toEqual([false, true]);
    },
  },
  {
    name: "MCP server",
    async play(bench) {
      const server = path.join(import.meta.dirname, "mcp-server.js");
      const observed = await run(
        bench,
        [{ tools: [{ kind: "mcp", server: "words", tool: "lookup", input: { key: "blue" } }] }, { text: "Looked up." }],
        {
          profile: "modify",
          mcpServers: [{ name: "words", transport: "stdio", command: process.execPath, args: [server], env: { WORD: "cobalt" } }],
        },
      );
      expectOutput(bench, observed, "Looked up.");
      const [tool] = toolsOf(observed.events);
      expect(tool).toMatchObject({ isError: false });
      // The request to the model is decisive, because not every runtime reports it.
      expect(JSON.stringify(bench.model.requests.at(-1)?.body)).toContain("cobalt for blue");
    },
  },
  {
    name: "MCP server that does not start",
    async play(bench) {
      const broken = { name: "broken", transport: "stdio", command: process.execPath, args: ["-e", "process.exit(3)"] };
      const observed = await run(bench, [{ text: "Without it." }], { profile: "modify", mcpServers: [broken] });
      expectOutput(bench, observed, "Without it.");
      const reports = observed.events.filter(({ data }) => Array.isArray(data["failedMcpServers"]));
      expect(reports.map(({ data }) => data)).toMatchObject([{ failedMcpServers: ["broken"], warning: expect.stringContaining("broken") }]);
    },
  },
  {
    name: "declared tools",
    async play(bench) {
      const names = ["ask_user", "send_mail"] as const;
      const tools = names.map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: "object", properties: { to: { type: "string" } } },
      }));
      // Gemini CLI has a tool of the first name, which hides any other.
      const programNames = bench.runtime === "gemini" ? ["ask_user_2", "send_mail"] : names;
      const calls = programNames.map((tool): Tool => ({ kind: "mcp", server: "bridge", tool, input: { to: "Eve" } }));
      const asked = bench.model.requests.length;
      const first = await run(bench, [{ say: "I must ask.", tools: calls }, { text: "Never." }], { profile: "inspect", tools });
      expect(first.task).toMatchObject({ state: "completed", result: { outputs: { toolCalls: expect.any(Array) } } });
      const observed = (first.task.result?.outputs?.["toolCalls"] ?? []) as { toolCallId: string; toolName: string; input: unknown }[];
      expect(observed.map(({ toolName, input }) => ({ toolName, input })).toSorted((a, b) => (a.toolName < b.toolName ? -1 : 1))).toEqual(
        names.map((toolName) => ({ toolName, input: { to: "Eve" } })),
      );
      expect(first.events.filter(({ type }) => type.startsWith("tool.")).map(({ type }) => type)).toEqual(["tool.invoked", "tool.invoked"]);
      expect(JSON.stringify(bench.model.requests.slice(asked).map(({ body }) => body))).not.toContain("follows in the next message");

      const results = Object.fromEntries(observed.map(({ toolCallId, toolName }) => [toolCallId, `${toolName} was done by hand-4711`]));
      const resumeToken = first.task.result?.resumeToken;
      const message = JSON.stringify(results);
      const second = await run(bench, [{ text: "Thank you." }], { message, profile: "inspect", tools, resumeToken });
      expectOutput(bench, second, "Thank you.");
      expect(second.task.result?.outputs).toBeUndefined();
      const heard = JSON.stringify(bench.model.requests.at(-1)?.body);
      for (const name of names) expect(heard).toContain(`${name} was done by hand-4711`);
      expect(heard).toContain("I must ask.");
    },
  },
  {
    name: "trace context in shell tools",
    async play(bench) {
      const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "congo=2" };
      const command = `echo "$TRACEPARENT $TRACESTATE" > trace.txt`;
      const steps: Step[] = [{ tools: [{ kind: "shell", command }] }, { text: "It ran." }];
      const taskId = await start(bench, steps, { profile: "modify" }, trace);
      expect(await bench.ended(taskId)).toMatchObject({ state: "completed" });
      expect(readFileSync(path.join(bench.workspace, "trace.txt"), "utf8")).toBe(`${trace.traceparent} ${trace.tracestate}\n`);
      // A provider would learn which requests belong together.
      const traceId = trace.traceparent.slice(3, 35);
      expect(bench.model.requests.filter(({ headers }) => String(headers["traceparent"]).includes(traceId))).toEqual([]);
    },
  },
  {
    name: "unicode",
    play: async (bench) => expectOutput(bench, await run(bench, [{ text: unicode }], { profile: "inspect" }), unicode),
  },
  {
    name: "1 MB answer",
    play: async (bench) => expectOutput(bench, await run(bench, [{ text: megabyte }], { profile: "inspect" }), megabyte),
  },
  {
    name: "`@path` and `/command` in a message",
    async play(bench) {
      // This may be the only cell of a sample, so no task has created the workspace yet.
      mkdirSync(bench.workspace, { recursive: true });
      writeFileSync(path.join(bench.workspace, "inside.txt"), "the-secret-inside\n");
      for (const message of ["/help", `@${bench.outside}/secret.txt`, "@inside.txt", "/help me with @inside.txt"]) {
        const before = bench.model.requests.length;
        const systemPrompt = bench.model.scenario([{ echo: true }]);
        const task = await bench.ended(await bench.dispatch({ message, systemPrompt, profile: "inspect" }));
        expect(task).toMatchObject({ state: "completed" });
        // A backslash prevents Gemini CLI from reading a file; the model receives it.
        expect(task.result?.output?.replaceAll("\\@", "@")).toBe(message);
        expect(JSON.stringify(bench.model.requests.slice(before).map(({ body }) => body))).not.toContain("the-secret");
      }
    },
  },
  {
    name: "prompt files of the workspace",
    async play(bench) {
      const prompts = ["SOUL.md", "AGENTS.md", "TOOLS.md"];
      // Files that some programs read as their own instructions.
      const others = ["CLAUDE.md", "GEMINI.md"];
      const wordOf = (name: string) => `the-word-of-${name.replace(".", "-")}`;
      mkdirSync(bench.workspace, { recursive: true });
      for (const name of [...prompts, ...others]) writeFileSync(path.join(bench.workspace, name), `Say ${wordOf(name)}.\n`);
      const marker = bench.model.scenario([{ text: "Read." }]);
      const task = await bench.ended(await bench.dispatch({ message: `Do it. ${marker}`, profile: "modify" }));
      for (const name of [...prompts, ...others]) rmSync(path.join(bench.workspace, name));
      expect(task).toMatchObject({ state: "completed", result: { output: "Read." } });
      const asked = JSON.stringify(bench.model.requests.findLast(({ body }) => JSON.stringify(body)?.includes(marker))?.body);
      expect(asked.match(/the-word-of-\w+-md/g)).toEqual(prompts.map(wordOf));
    },
  },
  {
    name: "stream that breaks in text",
    async play(bench) {
      const observed = await run(bench, [{ breakIn: "text", say: "This sentence is broken" }, { text: "The whole answer." }], {
        profile: "inspect",
      });
      expectOutput(bench, observed, "The whole answer.");
      expect(JSON.stringify(observed.task.result?.conversationMessages ?? [])).not.toContain("broken");
    },
  },
  {
    name: "stream that breaks in a tool call",
    async play(bench) {
      const tools: [Tool] = [{ kind: "shell", command: "touch half.txt" }];
      const observed = await run(bench, [{ breakIn: "call", say: "I call. ", tools }, { text: "The end." }, { text: "The end." }], {
        profile: "modify",
      });
      // Claude Code keeps the text before the call, and lets the model continue from there.
      expect(observed.task).toMatchObject({ state: "completed", result: { output: expect.stringMatching(/^(I call\. )?The end\.$/) } });
      for (const tool of toolsOf(observed.events)) expect(tool.isError).toBe(true);
      expect(existsSync(path.join(bench.workspace, "half.txt"))).toBe(false);
    },
  },
  {
    name: "call of an unknown tool",
    async play(bench) {
      const tools: [Tool] = [{ kind: "raw", name: "no_such_tool", input: {} }];
      const observed = await run(bench, [{ say: "I call.", tools }, { text: "The end." }], { profile: "modify" });
      expectOutput(bench, observed, "The end.");
      for (const tool of toolsOf(observed.events)) expect(tool.isError).toBe(true);
    },
  },
  {
    name: "refusal",
    // Claude Code repeats the request once after a refusal, and three times after a truncated answer.
    play: async (bench) => await expectNoAnswer(bench, [{ refuse: "I will not do that." }, { refuse: "I will not do that." }]),
  },
  {
    name: "answer that is cut short",
    play: async (bench) => await expectNoAnswer(bench, Array<Step>(4).fill({ text: "Half an ans", cutShort: true })),
  },
  {
    name: "four at once",
    async play(bench) {
      const answers = ["north", "east", "south", "west"].map((word) => `${word} `.repeat(50).trim());
      const tasks = await Promise.all(answers.map((text) => run(bench, [{ text }], { profile: "inspect" })));
      for (const [index, observed] of tasks.entries()) expectOutput(bench, observed, answers[index] as string);
    },
  },
];

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };

/** How the model returns an object: through a tool of the runtime if it has one for this, otherwise in its text. */
function handIn({ runtime, connection }: CellBench, json: string): Step {
  const hasTool = runtime === "claude-agent-sdk" || (runtime === "claude" && connection === "cli") || connection === "http-api";
  if (hasTool) return { tools: [{ kind: "raw", name: "StructuredOutput", input: JSON.parse(json) }] };
  return { text: runtime === "codex" ? json : `Here it is:\n\`\`\`json\n${json}\n\`\`\`` };
}

type Tool = Extract<Step, { tools: unknown }>["tools"][number];
interface ObservedTask {
  task: ReportedTask;
  events: EventEnvelope[];
}

function failure(name: string, status: number, errorCode: string): Scenario {
  return {
    name,
    async play(bench) {
      // OpenCode retries a failing provider for 90 s, and reports nothing over `cli` before the end.
      const { task, events } = await run(bench, [{ error: status }], { profile: "inspect", timeoutSeconds: 150 });
      expect(task).toMatchObject({ state: "failed", result: { errorCode, error: expect.stringMatching(/\w/) } });
      // The reason is in the error, not in the output.
      expect(task.result?.output ?? "").toBe("");
      expect(toolsOf(events)).toEqual([]);
    },
  };
}

/** Dispatches a message that makes the model follow the steps. */
function start(
  bench: CellBench,
  steps: Step[],
  { message = "Do it.", ...request }: Record<string, unknown>,
  headers?: Record<string, string>,
): Promise<string> {
  return bench.dispatch({ message: `${message} ${bench.model.scenario(steps)}`, ...request }, headers);
}

async function run(bench: CellBench, steps: Step[], request: Record<string, unknown>): Promise<ObservedTask> {
  const taskId = await start(bench, steps, request);
  const task = await bench.ended(taskId);
  return { task, events: await bench.events(taskId) };
}

async function expectNoAnswer(bench: CellBench, steps: Step[]): Promise<void> {
  const { task } = await run(bench, steps, { profile: "inspect" });
  expect(task).toMatchObject({ state: "failed", result: { errorCode: "model_error", error: expect.stringMatching(/\w/) } });
  expect(task.result?.output ?? "").toBe("");
}

function expectOutput(_bench: CellBench, { task, events }: ObservedTask, output: string): void {
  const { result } = task;
  expect({ state: task.state, error: result?.error }).toEqual({ state: "completed", error: undefined });
  expect(result?.output === output, `the output is ${result?.output?.slice(0, 200)}`).toBe(true);
  const texts = events
    .slice(events.findLastIndex(({ type }) => type.startsWith("tool.") || type === "assistant.text_discarded") + 1)
    .filter(({ type }) => type === "assistant.text");
  const streamed = texts.map(({ data }) => data["content"]).join("");
  // A connection without deltas reports no text before the end.
  if (texts.length > 0) expect(streamed === output, "the deltas do not add up to the output").toBe(true);
}

/** The tools of a task, each with its invocation and its completion. */
function toolsOf(events: readonly EventEnvelope[]) {
  const invoked = events.filter(({ type }) => type === "tool.invoked");
  const completed = events.filter(({ type }) => type === "tool.completed");
  expect(completed.map(({ data }) => data["toolCallId"]).sort()).toEqual(invoked.map(({ data }) => data["toolCallId"]).sort());
  return invoked.map(({ data }) => {
    const end = completed.find((event) => event.data["toolCallId"] === data["toolCallId"])?.data;
    return { name: data["toolName"], input: data["input"], output: end?.["output"], isError: end?.["isError"] };
  });
}
