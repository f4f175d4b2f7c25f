import { type Answer, type Conversation, cutText } from "./conversation.ts";
import { housekeepingAnswer, translateTool } from "./runtimes.ts";
import { chooseStep, findMarker, isFailure, type Scenario, type Step } from "./scenarios.ts";

/** The usage of every scripted answer. */
const taskUsage = { prompt: 130, cached: 20, answer: 30, thinking: 5 };
const housekeepingUsage = { prompt: 10, cached: 0, answer: 2, thinking: 0 };

/** The maximum length of a delta, for a text without `chunks`. */
const deltaLength = 8_192;

export type Reply = { answer: Answer } | { error: number; body?: unknown; headers?: Record<string, string> | undefined };

/** Returns the answer to a request: the next step of its scenario. */
export function replyTo(conversation: Conversation, scenarios: ReadonlyMap<string, Scenario>, messagePrefix: string): Reply {
  const aside = housekeepingAnswer(conversation);
  if (aside !== null) return { answer: { ...textAnswer(conversation, aside), usage: housekeepingUsage } };
  const marker = findMarker(conversation);
  if (marker === null) return { answer: textAnswer(conversation, "No scenario.") };
  const scenario = scenarios.get(marker.id);
  if (scenario === undefined) return { answer: textAnswer(conversation, `No scenario ${marker.id}.`) };
  const step = chooseStep(scenario, marker.turnsSince);
  if (step === null) return { answer: textAnswer(conversation, `No step left of scenario ${marker.id}.`) };
  if (isFailure(step)) scenario.failuresGiven.set(step, (scenario.failuresGiven.get(step) ?? 0) + 1);
  return play(step, conversation, messagePrefix);
}

function play(step: Step, conversation: Conversation, messagePrefix: string): Reply {
  if ("error" in step) return step;
  if ("text" in step) {
    const answer = { ...textAnswer(conversation, step.text, step.chunks), thought: step.think ?? "" };
    return { answer: step.cutShort === true ? { ...answer, finish: "length" } : answer };
  }
  if ("refuse" in step) return { answer: { ...textAnswer(conversation, step.refuse), finish: "refusal" } };
  if ("hang" in step) return { answer: { ...textAnswer(conversation, step.say ?? ""), stops: { in: "text", by: "hanging" } } };
  if ("tools" in step || "breakIn" in step) {
    const calls = (step.tools ?? []).map((tool) => translateTool(tool, conversation.runtime, conversation.tools));
    const answer = { ...textAnswer(conversation, step.say ?? ""), calls };
    if ("breakIn" in step)
      return { answer: { ...answer, stops: { in: step.breakIn, by: step.withError === true ? "an error" : "breaking" } } };
    return { answer: { ...answer, thought: step.think ?? "" } };
  }
  if ("cases" in step) {
    const userText = conversation.turns.flatMap((turn) => (turn.role === "user" ? [turn.text] : [])).join("\n");
    return { answer: textAnswer(conversation, step.cases.find(({ when }) => userText.includes(when))?.text ?? "No case.") };
  }
  const messages = conversation.turns.flatMap((turn) => (turn.role === "user" ? [withoutPrefix(turn.text, messagePrefix)] : []));
  return { answer: textAnswer(conversation, "echo" in step ? (messages.at(-1) ?? "") : messages.slice(0, -1).join("\n")) };
}

const FOUND = "found: ";

/** Inserts text of the request into the calls: an input `found: <pattern>` becomes the last match of the pattern in the request. */
export function fillIn(reply: Reply, body: unknown): Reply {
  if ("error" in reply) return reply;
  const find = (value: unknown): unknown => {
    if (typeof value !== "string" || !value.startsWith(FOUND)) return value;
    return [...JSON.stringify(body).matchAll(new RegExp(value.slice(FOUND.length), "g"))].at(-1)?.[0] ?? "nothing was found";
  };
  const calls = reply.answer.calls.map((call) =>
    typeof call.input === "string"
      ? call
      : { ...call, input: Object.fromEntries(Object.entries(call.input).map(([name, value]) => [name, find(value)])) },
  );
  return { answer: { ...reply.answer, calls } };
}

function textAnswer({ model }: Conversation, text: string, pieces = Math.max(3, Math.ceil(text.length / deltaLength))): Answer {
  return { model, thought: "", deltas: cutText(text, pieces), calls: [], usage: taskUsage };
}

/** Instructions may precede the prefix. */
function withoutPrefix(text: string, prefix: string): string {
  const at = text.indexOf(prefix);
  return at === -1 ? text : text.slice(at + prefix.length);
}
