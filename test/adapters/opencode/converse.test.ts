import { describe, expect, test } from "vitest";
import type { ApprovalQuestion, ExecutionRequest } from "#contract";
import { converse } from "../../../adapters/opencode/converse.ts";
import type { OpenCodeStart } from "../../../adapters/opencode/start.ts";
import { createTally } from "../../../adapters/opencode/usage.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { createExecutionRequest } from "../../conformance/execution-request.ts";
import { contextOf } from "./fixtures.ts";
import { createScriptedServer, type ServerBehavior } from "./scripted-server.ts";

const rules = [{ permission: "*", pattern: "*", action: "deny" }];

interface Given {
  changes?: Partial<ExecutionRequest>;
  /** Whether the task resumes the session of the recording. */
  resumes?: boolean;
  password?: string;
  signal?: AbortSignal;
  onTool?: () => void;
  requestApproval?: ProgramTask["context"]["requestApproval"];
}

/** Runs a conversation with a scripted server. */
async function talk(
  behavior: Partial<ServerBehavior>,
  {
    changes = {},
    resumes = false,
    password = "a password",
    signal = new AbortController().signal,
    onTool = () => {},
    requestApproval = contextOf().requestApproval,
  }: Given = {},
) {
  const { origin, calls, session } = await createScriptedServer({ recording: "tool", rules, password: "a password", ...behavior });
  const entries: string[] = [];
  const task: ProgramTask = {
    request: createExecutionRequest("/agents/one", { message: "m", ...changes, ...(resumes ? { resumeToken: session } : {}) }),
    context: { ...contextOf(), requestApproval },
    timeline: {
      appendText: (text: string) => entries.push(text),
      startTool() {
        entries.push("[");
        onTool();
      },
      finishTool: () => entries.push("]"),
      keepText() {},
      discardText() {},
      reportProgress: () => entries.push("…"),
    } as unknown as ProgramTask["timeline"],
    signal,
    totals: {} as ProgramTask["totals"],
  };
  const start: OpenCodeStart = {
    env: {},
    model: { providerID: "scripted", modelID: "model" },
    permissions: { "*": "deny" },
    tally: createTally({ isPriced: true }),
  };
  const end = await converse(task, start, { origin, password });
  const asked = calls.map(({ what }) => what.replace(session, "S"));
  const bodiesOf = (name: string) => calls.flatMap(({ what, body }) => (what.includes(name) ? [body] : []));
  return { ...end, timeline: entries.join(""), asked, session, prompt: bodiesOf("/prompt_async")[0], answers: bodiesOf("/permission/") };
}

const whole = ["GET /event", "GET /agent", "POST /session", "POST /session/S/prompt_async"];

describe("a conversation with a server", () => {
  test("a conversation with a server subscribes to events, checks the permissions and creates a session before it sends the prompt", async () => {
    const { outcome, facts, timeline, asked, session, prompt } = await talk({});
    expect(asked).toEqual(whole);
    expect(outcome).toEqual({ status: "ok" });
    expect(facts).toEqual({ resumeToken: session, model: "scripted/model" });
    expect(timeline).toMatch(/^I run it\.\[+\]It said hi\.$/);
    expect(prompt).toEqual({
      agent: "bridge",
      parts: [{ type: "text", text: expect.stringMatching(/m$/) }],
      model: { providerID: "scripted", modelID: "model" },
    });
  });

  test("a conversation with a server sends no prompt to an agent with wider permissions than requested", async () => {
    const { outcome, asked } = await talk({ rules: [{ permission: "*", pattern: "*", action: "allow" }] });
    expect(outcome).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("the task's permissions") });
    expect(asked).toEqual(whole.slice(0, 2));
  });

  test("a conversation with a server resumes only a session that exists", async () => {
    const resumed = await talk({ recording: "resumed" }, { resumes: true });
    expect(resumed).toMatchObject({ outcome: { status: "ok" }, timeline: "I go on." });
    expect(resumed.asked).toEqual([...whole.slice(0, 2), "GET /session/S", "POST /session/S/prompt_async"]);
    const unknown = await talk({}, { changes: { resumeToken: "ses_unknown" } });
    expect(unknown.outcome).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("does not know the session") });
    expect(unknown.prompt).toBeUndefined();
  });

  test.each([
    ["allow", { reply: "once" }, 0],
    ["deny", { reply: "reject", message: expect.stringContaining('approvals are "deny"') }, 0],
    ["ask", { reply: "reject", message: "not today" }, 1],
  ] as const)("a conversation with a server replies to a permission request with approvals %s: %j", async (approvals, answer, count) => {
    const questions: ApprovalQuestion[] = [];
    const requestApproval: ProgramTask["context"]["requestApproval"] = async (question) => {
      questions.push(question);
      return { decision: "reject", reason: "not today" };
    };
    const { answers, timeline, outcome } = await talk({ recording: "asked" }, { changes: { approvals }, requestApproval });
    expect(answers).toEqual([answer]);
    expect(questions).toHaveLength(count);
    for (const question of questions)
      expect(question).toMatchObject({
        toolCallId: expect.stringMatching(/^call_/),
        toolName: "bash",
        input: { command: "touch asked.txt" },
      });
    expect(timeline).toMatch(/I was let\.$/);
    expect(outcome).toEqual({ status: "ok" });
  });

  test("a conversation with a server passes the system prompt and the schema of an object", async () => {
    const schema = { type: "object", properties: { colour: { type: "string" } } };
    const outputStrategy = { type: "structured", schema } as const;
    const { prompt, facts } = await talk({ recording: "structured" }, { changes: { systemPrompt: "Be brief.", outputStrategy } });
    expect(prompt).toMatchObject({ system: "Be brief.", format: { type: "json_schema", schema } });
    expect(facts).toMatchObject({ outputs: { colour: "blue" } });
    const list = await talk({}, { changes: { outputStrategy: { type: "structured", schema: { type: "array" } } } });
    expect(list.prompt).not.toHaveProperty("format");
  });

  test("a conversation with a server aborts a session that continues after its outcome", async () => {
    const { outcome, timeline, asked } = await talk({ recording: "error-503" });
    expect(outcome).toMatchObject({ errorCode: "model_error", error: expect.stringContaining("4 times in a row") });
    expect(timeline).toBe("…………");
    expect(asked.at(-1)).toBe("POST /session/S/abort");
  });

  test("a conversation with a server is a crash when the event stream ends early", async () => {
    const { outcome } = await talk({ until: '"running"', hangsUp: true });
    expect(outcome).toMatchObject({ errorCode: "runtime_crashed" });
  });

  test("a conversation with a server fails when the server rejects the password", async () => {
    const { outcome, asked } = await talk({}, { password: "another" });
    expect(outcome).toMatchObject({ errorCode: "adapter_error", error: expect.stringContaining("HTTP 401 for GET /event") });
    expect(asked).toEqual([]);
  });

  test("a conversation with a server aborts its session when the task is canceled", async () => {
    const cancel = new AbortController();
    const { outcome, facts, asked, session } = await talk({ until: '"running"' }, { signal: cancel.signal, onTool: () => cancel.abort() });
    expect(outcome).toMatchObject({ errorCode: "cancelled" });
    expect(facts.resumeToken).toBe(session);
    expect(asked).toEqual([...whole, "POST /session/S/abort"]);
  });
});
