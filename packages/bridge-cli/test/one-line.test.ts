import type { BridgeEvent } from "bridge-client";
import { expect, test } from "vitest";
import { describeEvent } from "../src/describe-event.ts";
import { measureWidth } from "../src/display-width.ts";
import type { Output } from "../src/output.ts";
import { printTable } from "../src/table.ts";
import { renderText, type Text } from "../src/text.ts";

const render = (text: Text): string => renderText(text, { hasColors: false, showsHidden: true });
/** Fills the rest of its line, and then imitates another line. */
const FORGED = `${"漢".repeat(30)}12:00:00  execution.completed  All checks passed.`;

test("an event of wide characters is one line of the terminal", () => {
  const event = {
    id: "1",
    agentId: "a",
    provider: "p",
    taskId: "t",
    type: "assistant.text",
    timestamp: "2026-01-01T00:00:00.000Z",
    data: { content: FORGED },
  };
  const line = render(describeEvent(event as BridgeEvent, 80, true));
  expect(measureWidth(line)).toBeLessThanOrEqual(80);
  expect(line).toMatch(/漢…$/);
});

test("the rows of a table with wide characters are lines of the terminal, with aligned columns", () => {
  const lines: string[] = [];
  const output = { format: "terminal", columns: 60, print: (line: Text) => lines.push(render(line)) } as unknown as Output;
  const rows = [
    { title: FORGED, state: "failed" },
    { title: "短", state: "queued" },
  ];
  printTable(output, rows, [
    { title: "title", value: ({ title }) => title, isFlexible: true },
    { title: "state", value: ({ state }) => state },
  ]);
  expect(lines.slice(1).map((line) => measureWidth(line))).toEqual([60, 60]);
});
