import { describe, expect, test } from "vitest";
import { createEventReader } from "../../../adapters/openclaw/events.ts";
import type { Step } from "../../../adapters/shared/agent-program/run-program.ts";
import recording from "./recorded-runs.json" with { type: "json" };

type RunName = keyof typeof recording.runs;
const isRun = (id: string) => id === "RUN";
const read = (name: RunName) => {
  const reader = createEventReader(isRun);
  const steps = recording.runs[name].events.flatMap((event) => reader.read(event));
  return { reader, steps };
};
/** Summarizes steps: joins texts, and lists tools by name and other steps by kind. */
function summarize(steps: readonly Step[]): string[] {
  const lines: string[] = [];
  for (const step of steps) {
    const last = lines.at(-1);
    if (step.kind === "text" && last?.startsWith("> ") === true) lines[lines.length - 1] = `${last}${step.text}`;
    else if (step.kind === "text") lines.push(`> ${step.text}`);
    else if (step.kind === "tool.invoked") lines.push(`${step.toolName} ${JSON.stringify(step.input)}`);
    else if (step.kind === "tool.completed")
      lines.push(`${step.toolName} ${step.isError ? "failed" : "done"}: ${String(step.output).slice(0, 40)}`);
    else if (step.kind === "discarded") lines.push("discarded");
    else if (step.kind === "progress") lines.push(`progress ${Object.keys(step.data).join()}`);
  }
  return lines;
}
const about = (stream: string, data: unknown, runId = "RUN") => ({ event: "agent", payload: { runId, sessionKey: "KEY", stream, data } });

describe("recorded events of a run", () => {
  test.each<[RunName, string[]]>([
    ["speak", ["> A first part, a second part, and a third one."]],
    ["broken", ["> This sentence is broken", "progress retry,reason", "discarded", "> The whole answer."]],
    [
      "tool",
      [
        "> I look.",
        expect.stringMatching(/^exec \{"command":"echo seen"/),
        "progress tool,output",
        "exec done: seen",
        "> I have seen it.",
      ] as string[],
    ],
    [
      "refusedTool",
      ["> I look.", 'exec {"command":"touch denied.txt"}', expect.stringMatching(/^exec failed: .*/s), "> I may not."] as string[],
    ],
    ["approved", ["> I look.", 'exec {"command":"touch asked.txt"}', "progress phase", "exec done: (no output)", "> Well."]],
    ["rejected", ["> I look.", 'exec {"command":"touch asked.txt"}', "progress phase", "exec failed: Exec denied (gateway id=", "> Well."]],
  ])("recorded events of a run of the recording %s result in the expected steps", (name, expected) => {
    const summary = summarize(read(name).steps).map((line) => (line.startsWith("exec failed: Exec denied") ? line.slice(0, 36) : line));
    expect(summary).toEqual(
      expected.map((line) => (typeof line === "string" && line.startsWith("exec failed: Exec denied") ? line.slice(0, 36) : line)),
    );
  });

  test("recorded events of a run contain the model", () => {
    expect(read("speak").steps).toContainEqual({ kind: "facts", facts: { model: "custom/scripted" } });
  });

  test.each<[RunName, string | null]>([
    ["speak", null],
    ["badRequest", "format"],
    ["refusedKey", "auth"],
    ["cooledDown", null],
  ])("%s: the provider's reason is %s", (name, reason) => {
    expect(read(name).reader.failoverReason).toBe(reason);
  });
});

test("text that was missed during a disconnect is emitted once with the next event", () => {
  const reader = createEventReader(isRun);
  const emit = (text: string, delta: string, itemId = "1") => reader.read(about("assistant", { text, delta, itemId }));
  expect([emit("Grü", "Grü"), emit("Grüße an", " an"), emit("Grüße an", ""), emit("Neu", "Neu", "2")].flat()).toEqual([
    { kind: "text", text: "Grü" },
    { kind: "text", text: "ße an" },
    { kind: "kept" },
    { kind: "text", text: "Neu" },
  ]);
});

test("the text of a preamble is emitted only if it was not streamed before", () => {
  const preamble = (phase: string) => about("item", { kind: "preamble", phase, progressText: "I look." });
  const silent = createEventReader(isRun);
  expect([silent.read(preamble("update")), silent.read(preamble("end"))].flat()).toEqual([{ kind: "text", text: "I look." }]);
  const afterText = createEventReader(isRun);
  afterText.read(about("assistant", { text: "I look.", delta: "I look.", itemId: "1" }));
  expect(afterText.read(preamble("end"))).toEqual([]);
});

test("items are read as tool calls only after a rejoin", () => {
  const item = (phase: string, status: string) =>
    about("item", { kind: "tool", phase, status, name: "exec", toolCallId: "c", title: "Exec ls" });
  const reader = createEventReader(isRun);
  expect(reader.read(item("start", "running"))).toEqual([]);
  reader.readItems();
  expect([item("start", "running"), item("update", "running"), item("end", "failed")].flatMap((event) => reader.read(event))).toEqual([
    { kind: "tool.invoked", toolCallId: "c", toolName: "exec", input: { title: "Exec ls" } },
    { kind: "tool.completed", toolCallId: "c", toolName: "exec", output: "Exec ls", isError: true },
  ]);
});

test.each([
  ["another run", about("assistant", { text: "x", delta: "x", itemId: "1" }, "OTHER")],
  ["another kind", { event: "health", payload: { ok: true } }],
  ["a stream of a newer gateway", about("thoughts", { text: "x" })],
  ["a stream with the name of an Object property", about("constructor", {})],
  ["a shape of a newer gateway", about("assistant", { words: "x" })],
  ["no payload", { event: "agent", payload: null }],
])("an event of %s adds no step", (_, event) => {
  expect(createEventReader(isRun).read(event)).toEqual([]);
});
