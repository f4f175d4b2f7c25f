import fc from "fast-check";
import { expect, test } from "vitest";
import { anyCharacter } from "../../support/any-character.ts";
import { type Conversation, cutText, type Turn } from "./conversation.ts";
import { chooseStep, findMarker, type Step, stepSchema } from "./scenarios.ts";

const user = (text: string): Turn => ({ role: "user", text });
const assistant: Turn = { role: "assistant" };
const tool: Turn = { role: "tool" };

const conversation = (turns: Turn[], system = ""): Conversation => ({
  runtime: "claude",
  model: "scripted",
  system,
  turns,
  tools: [],
  stream: true,
});

test.each<{ title: string; turns: Turn[]; system?: string; found: ReturnType<typeof findMarker> }>([
  { title: "none", turns: [user("Hello."), assistant], found: null },
  { title: "in the first message", turns: [user("[[scenario s1]]")], found: { id: "s1", turnsSince: 0 } },
  { title: "the last of a message", turns: [user("[[scenario s1]] [[scenario s2]]")], found: { id: "s2", turnsSince: 0 } },
  { title: "two turns since", turns: [user("[[scenario s1]]"), assistant, tool, assistant, tool], found: { id: "s1", turnsSince: 2 } },
  {
    title: "one turn in several messages",
    turns: [user("[[scenario s1]]"), assistant, assistant, assistant, tool, tool],
    found: { id: "s1", turnsSince: 1 },
  },
  {
    title: "of the newest message",
    turns: [user("[[scenario s1]]"), assistant, user("[[scenario s2]]"), assistant, tool],
    found: { id: "s2", turnsSince: 1 },
  },
  { title: "of an earlier message", turns: [user("[[scenario s1]]"), assistant, user("Go on.")], found: { id: "s1", turnsSince: 1 } },
  {
    title: "twice the same",
    turns: [user("[[scenario s1]]"), assistant, user("[[scenario s1]]"), assistant, tool],
    found: { id: "s1", turnsSince: 1 },
  },
  {
    title: "of the system prompt, since the last message",
    turns: [user("One."), assistant, user("Two."), assistant, tool],
    system: "[[scenario s3]]",
    found: { id: "s3", turnsSince: 1 },
  },
  {
    title: "of the message before the system prompt's",
    turns: [user("[[scenario s1]]")],
    system: "[[scenario s3]]",
    found: { id: "s1", turnsSince: 0 },
  },
])("the marker: $title", ({ turns, system, found }) => {
  expect(findMarker(conversation(turns, system))).toEqual(found);
});

test.each<{ title: string; steps: Step[]; turnsSince: number; given?: [step: number, times: number]; chosen: number | null }>([
  { title: "the first", steps: [{ text: "a" }, { text: "b" }], turnsSince: 0, chosen: 0 },
  { title: "the second", steps: [{ text: "a" }, { text: "b" }], turnsSince: 1, chosen: 1 },
  { title: "none left", steps: [{ text: "a" }], turnsSince: 1, chosen: null },
  { title: "an error for ever", steps: [{ error: 500 }, { text: "a" }], turnsSince: 0, given: [0, 9], chosen: 0 },
  { title: "an error not yet often enough", steps: [{ error: 500, times: 2 }, { text: "a" }], turnsSince: 0, given: [0, 1], chosen: 0 },
  { title: "what follows an error", steps: [{ error: 500, times: 2 }, { text: "a" }], turnsSince: 0, given: [0, 2], chosen: 1 },
  { title: "an error after a turn", steps: [{ text: "a" }, { error: 500 }], turnsSince: 1, chosen: 1 },
  {
    title: "the turn after an error",
    steps: [{ error: 500, times: 1 }, { text: "a" }, { text: "b" }],
    turnsSince: 1,
    given: [0, 1],
    chosen: 2,
  },
  { title: "a break", steps: [{ breakIn: "text", say: "a" }, { text: "b" }], turnsSince: 0, chosen: 0 },
  { title: "what follows a break", steps: [{ breakIn: "text", say: "a" }, { text: "b" }], turnsSince: 0, given: [0, 1], chosen: 1 },
])("the step: $title", ({ steps, turnsSince, given, chosen }) => {
  const failuresGiven = new Map(given === undefined ? [] : [[steps[given[0]] as Step, given[1]]]);
  expect(chooseStep({ steps, failuresGiven }, turnsSince)).toBe(chosen === null ? null : steps[chosen]);
});

test.each([{}, { text: 1 }, { text: "a", say: "b" }, { tools: [] }, { tools: [{ kind: "dance" }] }, { error: 200 }, { hang: false }])(
  "no step: %j",
  (step) => {
    expect(stepSchema.safeParse(step).success).toBe(false);
  },
);

test("splitting a text loses nothing and splits no character", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.integer({ min: 1, max: 9 }), (any, pieces) => {
      const text = any.toWellFormed();
      const cut = cutText(text, pieces);
      expect(cut.join("")).toBe(text);
      expect(cut.length).toBeLessThanOrEqual(pieces);
      expect(cut.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
    }),
  );
});
