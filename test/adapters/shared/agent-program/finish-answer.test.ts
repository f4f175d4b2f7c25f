import { expect, test } from "vitest";
import type { AdapterEvent, ExecutionRequest } from "#contract";
import type { ConnectionResult, EmptyAnswers } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { finishAnswer } from "../../../../adapters/shared/agent-program/finish-answer.ts";
import { createTaskTimeline, type TaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";

interface Given {
  ending?: ConnectionResult;
  act?(timeline: TaskTimeline): void;
  emptyAnswers?: EmptyAnswers;
  outputStrategy?: ExecutionRequest["outputStrategy"];
  maxBytes?: number;
}

function finish({ ending = { status: "ok" }, act = () => {}, emptyAnswers, outputStrategy = { type: "stream" }, maxBytes }: Given) {
  const events: AdapterEvent[] = [];
  const timeline = createTaskTimeline("t", (event) => events.push(event), { streaming: true, ...(maxBytes !== undefined && { maxBytes }) });
  act(timeline);
  const result = finishAnswer(ending, { request: { outputStrategy }, timeline, emptyAnswers });
  return { result, events };
}

const useTool = (timeline: TaskTimeline): void => {
  timeline.startTool("1", "shell", {});
  timeline.finishTool("1", "done", false);
};
const isFailure = { status: "error", errorCode: "model_error", error: expect.stringContaining("without an answer") };

test("the streamed text is the output", () => {
  expect(finish({ act: (timeline) => timeline.appendText("Hello.") }).result).toEqual({ status: "ok", output: "Hello." });
});

test("the output that the runtime reports replaces the streamed text, and the deltas add up to it", () => {
  const { result, events } = finish({
    ending: { status: "ok", output: "Whole." },
    act: (timeline) => timeline.appendText("Half aWhole."),
  });
  expect(result).toEqual({ status: "ok", output: "Whole." });
  expect(events).toEqual([
    { type: "assistant.text", taskId: "t", data: { content: "Half aWhole." } },
    { type: "assistant.text_discarded", taskId: "t", data: { reason: expect.stringMatching(/\w/) } },
    { type: "assistant.text", taskId: "t", data: { content: "Whole." } },
  ]);
});

test.each<[string, Given]>([
  ["that was streamed", { act: (timeline) => timeline.appendText("0123456789") }],
  ["that the runtime reports at its end", { ending: { status: "ok", output: "0123456789" } }],
])("an answer %s and exceeds the limit of text fails the task", (_, given) => {
  expect(finish({ ...given, maxBytes: 5 }).result).toMatchObject({ status: "error", errorCode: "output_limit" });
});

test("an error is not the output, but a canceled task keeps its partial answer", () => {
  const act = (timeline: TaskTimeline): void => timeline.appendText("I be");
  expect(finish({ ending: { status: "error", errorCode: "model_error" }, act }).result).not.toHaveProperty("output");
  expect(finish({ ending: { status: "error", errorCode: "cancelled" }, act }).result).toMatchObject({ output: "I be" });
});

test.each<[EmptyAnswers | undefined, string, Given["act"], Given["outputStrategy"], boolean]>([
  ["accepted", "no tools", undefined, { type: "stream" }, true],
  ["accepted", "tools", useTool, { type: "stream" }, true],
  [undefined, "no tools", undefined, { type: "stream" }, false],
  [undefined, "tools", useTool, { type: "stream" }, true],
  ["after tools", "no tools", undefined, { type: "file", path: "out.txt" }, false],
  ["never", "no tools", undefined, { type: "stream" }, false],
  ["never", "tools", useTool, { type: "stream" }, false],
  ["never", "tools that write the file", useTool, { type: "file", path: "out.txt" }, true],
])(
  "an empty answer of a connection with `emptyAnswers` %s, with %s",
  (emptyAnswers, _, act, outputStrategy = { type: "stream" }, isAccepted) => {
    const { result } = finish({ ...(act && { act }), ...(emptyAnswers && { emptyAnswers }), outputStrategy });
    if (isAccepted) expect(result).toEqual({ status: "ok", output: "" });
    else expect(result).toMatchObject(isFailure);
  },
);

test("an answer of only blanks is empty, and the failure keeps the other fields of the result", () => {
  const ending: ConnectionResult = { status: "ok", model: "m", resumeToken: "r" };
  const { result } = finish({ ending, act: (timeline) => timeline.appendText(" \n"), emptyAnswers: "never" });
  expect(result).toMatchObject({ ...isFailure, model: "m", resumeToken: "r" });
  expect(result).not.toHaveProperty("output");
});

test("structured output is an answer even without text", () => {
  expect(finish({ ending: { status: "ok", outputs: { n: 4 } }, emptyAnswers: "never" }).result).toEqual({
    status: "ok",
    outputs: { n: 4 },
    output: "",
  });
});

test("a turn that ends with the notice of a usage limit is rate limited, and has no output", () => {
  const notice = "You've hit your session limit · resets 3pm (Europe/Zurich)";
  const { result } = finish({ ending: { status: "ok", output: notice }, act: useTool });
  expect(result).toEqual({ status: "error", errorCode: "rate_limited", error: `The runtime ended its turn with: ${notice}` });
});

test("an answer about usage limits, and structured output that contains a notice, stay answers", () => {
  const answer = "The last run failed with: You've hit your session limit · resets 3pm (Europe/Zurich)";
  expect(finish({ ending: { status: "ok", output: answer } }).result).toEqual({ status: "ok", output: answer });
  const outputs = { message: "5-hour limit reached ∙ resets 3pm" };
  expect(finish({ ending: { status: "ok", output: outputs.message, outputs } }).result).toMatchObject({ status: "ok", outputs });
});
