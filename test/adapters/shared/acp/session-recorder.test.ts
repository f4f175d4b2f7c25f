import { expect, test } from "vitest";
import type { AdapterEvent } from "#contract";
import type { AcpProfile } from "../../../../adapters/shared/acp/acp-profile.ts";
import type { CompletePart } from "../../../../adapters/shared/acp/message-text.ts";
import { readToolCall } from "../../../../adapters/shared/acp/read-update.ts";
import { createSessionRecorder, type SessionRecorder } from "../../../../adapters/shared/acp/session-recorder.ts";
import { createTaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";

type ProfileReaders = Pick<AcpProfile, "readNotice" | "readExtension" | "toolName" | "answersInLastMessage">;

/** Records updates and returns one line per event, the answer, and the facts. */
function record(act: (recorder: SessionRecorder) => void, profile: ProfileReaders = {}) {
  const lines: string[] = [];
  const show = ({ type, data }: AdapterEvent): string => {
    if (type === "tool.invoked") return `${data.toolName}#${data.toolCallId} ${JSON.stringify(data.input)}`;
    if (type === "tool.completed")
      return `${data.toolName}#${data.toolCallId} ${data.isError ? "failed" : "gave"} ${JSON.stringify(data.output)}`;
    if (type === "assistant.text_discarded") return `discarded: ${data.reason}`;
    return type === "assistant.text" ? `"${data.content}"` : JSON.stringify(data);
  };
  const timeline = createTaskTimeline("task", (event) => lines.push(show(event)), { streaming: true });
  const recorder = createSessionRecorder(timeline, profile);
  act(recorder);
  recorder.flush();
  timeline.close();
  return { lines, answer: timeline.answer, costUsd: recorder.costUsd, failure: recorder.failure, rejection: recorder.rejection };
}

const chunk = (text: string, fields = {}) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text }, ...fields });
const call = (fields: object) => ({ sessionUpdate: "tool_call", toolCallId: "1", ...fields });
const change = (fields: object) => ({ sessionUpdate: "tool_call_update", toolCallId: "1", ...fields });
const shown = (text: string) => [{ type: "content", content: { type: "text", text } }];
const known = (fields: object) => readToolCall({ toolCallId: "1", ...fields }) ?? expect.fail("no tool call");
const takeAll =
  (...updates: object[]) =>
  (recorder: SessionRecorder) => {
    for (const update of updates) recorder.recordUpdate(update);
  };

const usage = { sessionUpdate: "usage_update", used: 151, size: 1_000_000 };

test.each<[agent: string, updates: object[], lines: string[]]>([
  [
    "claude: the input grows while the call is pending, and the tool completes twice",
    [
      call({ name: "Bash", title: "Terminal", kind: "execute", status: "pending", rawInput: {}, content: [] }),
      change({ title: "echo hi", rawInput: { command: "echo hi" } }),
      change({ rawInput: { command: "echo hi", description: "Says hi" }, content: shown("Says hi") }),
      usage,
      change({ _meta: { claudeCode: { toolName: "Bash", toolResponse: { stdout: "hi" } } } }),
      change({ status: "completed", rawOutput: "hi", content: shown("```console\nhi\n```") }),
      chunk("Done."),
    ],
    ['Bash#1 {"command":"echo hi","description":"Says hi"}', 'Bash#1 gave "hi"', '"Done."'],
  ],
  [
    "codex: the output of the terminal arrives in parts",
    [
      call({
        name: "exec_command",
        status: "in_progress",
        content: [{ type: "terminal", terminalId: "1" }],
        rawInput: { command: "echo hi", cwd: "/work" },
      }),
      change({ _meta: { terminal_output_delta: { data: "h", terminal_id: "1" } } }),
      change({ status: "completed", _meta: { terminal_output_delta: { data: "i\n" }, terminal_exit: { exit_code: 0 } } }),
    ],
    ['exec_command#1 {"command":"echo hi","cwd":"/work"}', 'exec_command#1 gave "hi\\n"'],
  ],
  [
    "codex: a command without output",
    [
      call({ name: "exec_command", status: "in_progress", rawInput: { command: "true" } }),
      change({ status: "completed", _meta: { terminal_exit: { exit_code: 0 } } }),
    ],
    ['exec_command#1 {"command":"true"}', 'exec_command#1 gave ""'],
  ],
  [
    "gemini: a call with neither input nor output",
    [
      call({ status: "in_progress", title: "echo hi", kind: "execute", content: shown("[current working directory]"), locations: [] }),
      change({ status: "completed", title: "echo hi", kind: "execute", content: [] }),
    ],
    ['execute#1 {"title":"echo hi"}', "execute#1 gave null"],
  ],
  [
    "opencode: a repeated update and a late input",
    [
      call({ title: "bash", kind: "execute", status: "pending", rawInput: { cwd: "/work" } }),
      change({ status: "in_progress", title: "echo hi", rawInput: { command: "echo hi", cwd: "/work" } }),
      change({ status: "in_progress", title: "echo hi", rawInput: { command: "echo hi", cwd: "/work" } }),
      change({ status: "completed", content: shown("hi\n"), rawOutput: { output: "hi\n", metadata: { exit: 0 } } }),
      change({ status: "completed", content: shown("hi\n"), rawOutput: { output: "hi\n", metadata: { exit: 0 } } }),
    ],
    ['execute#1 {"command":"echo hi","cwd":"/work"}', 'execute#1 gave {"output":"hi\\n","metadata":{"exit":0}}'],
  ],
  [
    "a completion without a call",
    [change({ status: "failed", kind: "edit", title: "x", content: shown("no") })],
    ['edit#1 {"title":"x"}', 'edit#1 failed "no"'],
  ],
  [
    "an output that is not text",
    [call({ name: "edit", status: "in_progress" }), change({ status: "completed", content: [{ type: "diff", path: "a", newText: "b" }] })],
    ["edit#1 {}", 'edit#1 gave [{"type":"diff","path":"a","newText":"b"}]'],
  ],
  [
    "a call that is only announced, before text",
    [call({ name: "look", status: "pending", rawInput: { at: "it" } }), chunk("Well.")],
    ['look#1 {"at":"it"}', '"Well."', 'look#1 failed "The runtime did not report how this call ended."'],
  ],
  [
    "a call that is only announced, at the end",
    [chunk("Let me."), call({ name: "look", status: "pending" })],
    ['"Let me."', "look#1 {}", 'look#1 failed "The runtime did not report how this call ended."'],
  ],
  ["a plan", [{ sessionUpdate: "plan", entries: [{ content: "Think" }] }], ['{"plan":[{"content":"Think"}]}']],
  [
    "unknown, invalid and irrelevant updates",
    [
      { sessionUpdate: "available_commands_update", availableCommands: [] },
      { sessionUpdate: "tomorrow" },
      { sessionUpdate: "tool_call" },
      { sessionUpdate: "agent_message_chunk", content: null },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } },
      {},
      chunk("Still here."),
    ],
    ['"Still here."'],
  ],
])("%s", (_, updates, lines) => {
  expect(record(takeAll(...updates)).lines).toEqual(lines);
});

test("a permission request for a new call starts the call, and its completion ends it (gemini)", () => {
  const { lines } = record((recorder) => {
    recorder.recordQuestion(known({ status: "pending", title: "touch a", kind: "execute", content: shown("[current working directory]") }));
    recorder.recordUpdate(change({ status: "completed", title: "touch a", content: [] }));
  });
  expect(lines).toEqual(['execute#1 {"title":"touch a"}', "execute#1 gave null"]);
});

test("a permission request for a known call does not start it again (claude, opencode)", () => {
  const { lines } = record((recorder) => {
    recorder.recordUpdate(call({ name: "Bash", status: "pending", rawInput: {} }));
    recorder.recordQuestion(known({ title: "touch a", rawInput: { command: "touch a" } }));
    recorder.recordUpdate(change({ rawInput: { command: "touch a", description: "late" } }));
    recorder.recordUpdate(change({ status: "completed", rawOutput: "" }));
  });
  expect(lines).toEqual(['Bash#1 {"command":"touch a"}', 'Bash#1 gave ""']);
});

test("a rejected call ends at once, whether the agent reports its end (claude, opencode) or not (gemini)", () => {
  const reject = (recorder: SessionRecorder) => {
    recorder.recordQuestion(known({ kind: "edit", title: "a.txt" }));
    recorder.rejectCall("1", "no");
  };
  const silent = record((recorder) => {
    reject(recorder);
    recorder.recordUpdate(chunk("As you wish."));
  });
  expect(silent.lines).toEqual(['edit#1 {"title":"a.txt"}', 'edit#1 failed "no"', '"As you wish."']);
  expect(silent).toMatchObject({ answer: "As you wish.", rejection: "no" });
  const repeated = record((recorder) => {
    reject(recorder);
    recorder.recordUpdate(change({ status: "failed", rawOutput: "The user rejected it" }));
  });
  expect(repeated.lines).toEqual(['edit#1 {"title":"a.txt"}', 'edit#1 failed "no"']);
});

test("the last cost in US dollars counts; other currencies and updates without a cost do not", () => {
  const cost = (amount: number, currency: string) => ({ ...usage, cost: { amount, currency } });
  expect(record(takeAll(cost(0.1, "USD"), cost(0.3, "USD"), usage, cost(9, "EUR"))).costUsd).toBe(0.3);
  expect(record(takeAll(usage, cost(-1, "USD"))).costUsd).toBeUndefined();
});

test("notices are not part of the timeline and report a failed turn (codex)", () => {
  const readNotice: ProfileReaders["readNotice"] = (update) => {
    if (update["sessionUpdate"] === "session_info_update") return { failed: true };
    return update["sessionUpdate"] === "agent_message_chunk" && update["messageId"] === undefined
      ? { text: JSON.stringify(update["content"]) }
      : null;
  };
  const warned = record(takeAll(chunk("Warning: metadata"), chunk("Fine.", { messageId: "m" })), { readNotice });
  expect(warned).toMatchObject({ lines: ['"Fine."'], failure: undefined });
  const failed = record(takeAll(chunk("Warning: metadata"), { sessionUpdate: "session_info_update" }, chunk("status 429")), { readNotice });
  expect(failed).toMatchObject({ lines: [], failure: expect.stringContaining("status 429") });
  expect(record(takeAll({ sessionUpdate: "session_info_update" }), { readNotice }).failure).toBe("The agent reports no reason.");
});

test("text of a broken message is discarded, and the SDK's messages confirm the answer (claude)", () => {
  const readExtension: ProfileReaders["readExtension"] = (method, params) =>
    method === "_own" ? (params as { notice: object }).notice : null;
  const own = (notice: object) => (recorder: SessionRecorder) => recorder.recordExtension("_own", { notice });
  const acts = [
    takeAll(chunk("Whole. ", { messageId: "m1" }), chunk("Bro", { messageId: "m2" })),
    own({ discarded: "It broke." }),
    takeAll(chunk("The end.", { messageId: "m3" })),
    own({ answer: "The end." }),
    (recorder: SessionRecorder) => recorder.recordExtension("_other", { notice: { discarded: "Not ours." } }),
  ];
  const actAll = (recorder: SessionRecorder): void => {
    for (const act of acts) act(recorder);
  };
  const recorded = record(actAll, { readExtension });
  expect(recorded.lines).toEqual(['"Whole. "', '"Bro"', "discarded: It broke.", '"Whole. "', '"The end."']);
  expect(recorded.answer).toBe("Whole. The end.");
});

test("the answer stays when a broken call before it ends after it (claude)", () => {
  const { lines, answer } = record(
    takeAll(
      chunk("I call. ", { messageId: "m1" }),
      call({ name: "Bash", status: "pending", rawInput: {} }),
      chunk("The end.", { messageId: "m2" }),
      change({ status: "failed", rawOutput: "It never ran." }),
    ),
  );
  expect(lines).toEqual(['"I call. "', "Bash#1 {}", '"The end."', 'Bash#1 failed "It never ran."']);
  expect(answer).toBe("The end.");
});

test("only the last message is the answer of an agent that does not report rejected calls (codex)", () => {
  const updates = [
    chunk("I loo", { messageId: "m1" }),
    chunk("k.", { messageId: "m1" }),
    call({ name: "Bash", status: "completed", rawInput: {} }),
    chunk("I call.", { messageId: "m2" }),
    chunk("The ", { messageId: "m3" }),
    chunk("end.", { messageId: "m3" }),
  ];
  const { lines, answer } = record(takeAll(...updates), { answersInLastMessage: true });
  expect(lines).toEqual([
    '"I loo"',
    '"k."',
    "Bash#1 {}",
    "Bash#1 gave null",
    '"I call."',
    "discarded: The agent continued with another message.",
    '"The "',
    '"end."',
  ]);
  expect(answer).toBe("The end.");
  expect(record(takeAll(...updates)).answer).toBe("I call.The end.");
});

test("invalid updates are ignored before the profile reads them", () => {
  const readNotice: ProfileReaders["readNotice"] = ({ sessionUpdate }) => (sessionUpdate === "broken" ? { failed: true } : null);
  const takeNothing = (recorder: SessionRecorder) => {
    for (const update of [undefined, null, 5, "text"]) recorder.recordUpdate(update);
  };
  const recorded = record(takeNothing, { readNotice });
  expect(recorded).toMatchObject({ lines: [], failure: undefined });
});

test("the profile's tool name takes precedence", () => {
  const toolName: ProfileReaders["toolName"] = ({ toolCallId }) => toolCallId.split("__")[0];
  expect(record(takeAll(call({ toolCallId: "read_file__7", kind: "read", status: "completed" })), { toolName }).lines).toEqual([
    "read_file#read_file__7 {}",
    "read_file#read_file__7 gave null",
  ]);
});

/** A profile whose agent reports complete parts of messages as extensions. */
const reporting: ProfileReaders = { readExtension: (_, params) => ({ complete: params as CompletePart }) };
const message = (id: string, text: string) => (recorder: SessionRecorder) => recorder.recordUpdate(chunk(text, { messageId: id }));
const complete =
  (id: string, text: string, isOwn = false) =>
  (recorder: SessionRecorder) =>
    recorder.recordExtension("_part", { id, text, isOwn });
const inOrder =
  (...acts: ((recorder: SessionRecorder) => void)[]) =>
  (recorder: SessionRecorder) => {
    for (const act of acts) act(recorder);
  };

test.each<[string, ((recorder: SessionRecorder) => void)[], string[], string]>([
  [
    "a message that never completed is discarded when the next one starts",
    [message("1", "Some text "), message("1", "first. "), complete("2", "The answer."), message("2", "The answer.")],
    ['"Some text "', '"first. "', "discarded: The model's answer was incomplete.", '"The answer."'],
    "The answer.",
  ],
  [
    "a complete message stays",
    [message("1", "I "), message("1", "look. "), complete("1", "I look. "), message("2", "Done."), complete("2", "Done.")],
    ['"I "', '"look. "', '"Done."'],
    "I look. Done.",
  ],
  [
    "the complete parts of a broken message stay",
    [message("1", "One."), complete("1", "One."), message("1", "Half"), complete("2", "Two."), message("2", "Two.")],
    ['"One."', '"Half"', "discarded: The model's answer was incomplete.", '"One."', '"Two."'],
    "One.Two.",
  ],
  [
    "a message without deltas stays",
    [complete("1", "One."), message("1", "One."), complete("1", "Two."), message("1", "Two."), complete("2", "End."), message("2", "End.")],
    ['"One."', '"Two."', '"End."'],
    "One.Two.End.",
  ],
  [
    "text before a tool call stays",
    [
      message("1", "I run it."),
      complete("1", "I run it."),
      takeAll(call({ status: "in_progress", kind: "execute" }), change({ status: "completed", rawOutput: "x" })),
      message("2", "Half"),
      complete("3", "Done."),
      message("3", "Done."),
    ],
    ['"I run it."', "execute#1 {}", 'execute#1 gave "x"', '"Half"', "discarded: The model's answer was incomplete.", '"Done."'],
    "Done.",
  ],
  ["a message that the agent wrote is no text", [complete("e", "API Error: 529", true), message("e", "API Error: 529")], [], ""],
])("with an agent that reports complete parts, %s", (_, acts, lines, answer) => {
  expect(record(inOrder(...acts), reporting)).toMatchObject({ lines, answer });
});
