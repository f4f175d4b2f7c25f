import { z } from "zod";
import { type Conversation, lastUserIndex } from "./conversation.ts";

const toolSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("shell"), command: z.string(), id: z.string().optional() }),
  z.strictObject({ kind: z.literal("write"), path: z.string(), content: z.string(), id: z.string().optional() }),
  z.strictObject({ kind: z.literal("read"), path: z.string(), id: z.string().optional() }),
  z.strictObject({
    kind: z.literal("mcp"),
    server: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    id: z.string().optional(),
  }),
  /** A tool by its name in the runtime. A text as input creates a free-form call if the protocol supports it. */
  z.strictObject({
    kind: z.literal("raw"),
    name: z.string(),
    input: z.union([z.record(z.string(), z.unknown()), z.string()]),
    id: z.string().optional(),
  }),
]);

/** One step of a scenario: the behavior of the model in one turn. */
export const stepSchema = z.union([
  z.strictObject({
    think: z.string().optional(),
    text: z.string(),
    chunks: z.int().positive().optional(),
    cutShort: z.literal(true).optional(),
  }),
  /** Refuses in the format of the vendor. */
  z.strictObject({ refuse: z.string() }),
  /** With `think`, a thought precedes the answer. */
  z.strictObject({ think: z.string().optional(), say: z.string().optional(), tools: z.array(toolSchema).nonempty() }),
  /** Answers with the first text whose `when` occurs in a user message, so one scenario can serve several roles. */
  z.strictObject({ cases: z.array(z.strictObject({ when: z.string(), text: z.string() })).nonempty() }),
  /** Returns an error in the format of the vendor. With `times`, only for this number of requests; then the next step follows. */
  z.strictObject({
    error: z.int().min(400).max(599),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    times: z.int().positive().optional(),
  }),
  /** Closes the connection once, after the text or in the middle of the first call after it. Then the next step follows. */
  z.strictObject({
    breakIn: z.enum(["text", "call"]),
    say: z.string(),
    tools: z.array(toolSchema).optional(),
    /** Ends the stream with an error event of the vendor instead. Only Anthropic's protocol has one. */
    withError: z.literal(true).optional(),
  }),
  /** Sends nothing more until the client disconnects. */
  z.strictObject({ hang: z.literal(true), say: z.string().optional() }),
  /** Repeats the last message of the user as it arrived. */
  z.strictObject({ echo: z.literal(true) }),
  /** Repeats all earlier messages of the user. */
  z.strictObject({ recall: z.literal(true) }),
]);

export type Step = z.input<typeof stepSchema>;
export type Tool = z.input<typeof toolSchema>;

/** A registered scenario. Its only state is how often each failure was returned. */
export interface Scenario {
  steps: readonly Step[];
  failuresGiven: Map<Step, number>;
}

type Failure = Extract<Step, { error: number } | { breakIn: string }>;

/** Returns whether a step returns no answer. */
export const isFailure = (step: Step): step is Failure => "error" in step || "breakIn" in step;

/** Returns the text that selects a scenario, for a message or a system prompt. */
export function scenarioMarker(id: string): string {
  return `[[scenario ${id}]]`;
}

/**
 * Returns the scenario of a conversation and the number of assistant turns since its marker. The newest marker in a message takes
 * precedence, and the system prompt's marker applies only if no message has one.
 */
export function findMarker({ turns, system }: Conversation): { id: string; turnsSince: number } | null {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    const id = turn?.role === "user" ? lastMarker(turn.text) : undefined;
    if (id !== undefined) return { id, turnsSince: assistantTurnsAfter(turns, at) };
  }
  const id = lastMarker(system);
  return id === undefined ? null : { id, turnsSince: assistantTurnsAfter(turns, lastUserIndex(turns)) };
}

/** Returns the step after this number of assistant turns. Failures do not count as turns. */
export function chooseStep({ steps, failuresGiven }: Scenario, turnsSince: number): Step | null {
  let passed = 0;
  for (const step of steps) {
    if (passed === turnsSince && !(isFailure(step) && isUsedUp(step, failuresGiven))) return step;
    if (!isFailure(step)) passed += 1;
  }
  return null;
}

function isUsedUp(step: Failure, failuresGiven: Map<Step, number>): boolean {
  const times = "breakIn" in step ? 1 : step.times;
  return times !== undefined && (failuresGiven.get(step) ?? 0) >= times;
}

function lastMarker(text: string): string | undefined {
  return [...text.matchAll(/\[\[scenario (\w+)\]\]/g)].at(-1)?.[1];
}

/** Counts assistant messages in a row as one turn, because runtimes split one turn of the model into several messages. */
function assistantTurnsAfter(turns: Conversation["turns"], index: number): number {
  return turns.filter((turn, at) => at > index && turn.role === "assistant" && turns[at - 1]?.role !== "assistant").length;
}
