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
  /** A tool by the runtime's own name; a text as input makes a free-form call where the protocol has them. */
  z.strictObject({
    kind: z.literal("raw"),
    name: z.string(),
    input: z.union([z.record(z.string(), z.unknown()), z.string()]),
    id: z.string().optional(),
  }),
]);

/** One step of a scenario: what the model does when its turn comes. */
export const stepSchema = z.union([
  z.strictObject({
    think: z.string().optional(),
    text: z.string(),
    chunks: z.int().positive().optional(),
    cutShort: z.literal(true).optional(),
  }),
  /** The vendor's way to refuse a task. */
  z.strictObject({ refuse: z.string() }),
  /** With `think`, a thought precedes the answer. */
  z.strictObject({ think: z.string().optional(), say: z.string().optional(), tools: z.array(toolSchema).nonempty() }),
  /** The first text whose `when` occurs in a user message: one scenario for several roles. */
  z.strictObject({ cases: z.array(z.strictObject({ when: z.string(), text: z.string() })).nonempty() }),
  /** The vendor's own error; with `times` only for the first requests that come to it, then the next step follows. */
  z.strictObject({ error: z.int().min(400).max(599), body: z.unknown().optional(), times: z.int().positive().optional() }),
  /** The connection breaks after the text, or in the middle of the first call behind it; once, then the next step follows. */
  z.strictObject({ breakIn: z.enum(["text", "call"]), say: z.string(), tools: z.array(toolSchema).optional() }),
  /** Nothing more, until the client goes away. */
  z.strictObject({ hang: z.literal(true), say: z.string().optional() }),
  /** The last message of the user, as it arrived. */
  z.strictObject({ echo: z.literal(true) }),
  /** All earlier messages of the user. */
  z.strictObject({ recall: z.literal(true) }),
]);

export type Step = z.input<typeof stepSchema>;
export type Tool = z.input<typeof toolSchema>;

/** A registered scenario; how often its failures were given is all that it remembers. */
export interface Scenario {
  steps: readonly Step[];
  failuresGiven: Map<Step, number>;
}

type Failure = Extract<Step, { error: number } | { breakIn: string }>;

/** A step that gives no answer. */
export const isFailure = (step: Step): step is Failure => "error" in step || "breakIn" in step;

/** The text that calls up a scenario, to be put into a message or a system prompt. */
export function scenarioMarker(id: string): string {
  return `[[scenario ${id}]]`;
}

/** The scenario that a conversation asks for, and the assistant's turns since: the newest marker counts, the system prompt's last. */
export function findMarker({ turns, system }: Conversation): { id: string; turnsSince: number } | null {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    const id = turn?.role === "user" ? lastMarker(turn.text) : undefined;
    if (id !== undefined) return { id, turnsSince: assistantTurnsAfter(turns, at) };
  }
  const id = lastMarker(system);
  return id === undefined ? null : { id, turnsSince: assistantTurnsAfter(turns, lastUserIndex(turns)) };
}

/** The step that comes after so many turns of the assistant; failures are no turns. */
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

/** Runtimes split one turn of the model into several messages: those in a row are one. */
function assistantTurnsAfter(turns: Conversation["turns"], index: number): number {
  return turns.filter((turn, at) => at > index && turn.role === "assistant" && turns[at - 1]?.role !== "assistant").length;
}
