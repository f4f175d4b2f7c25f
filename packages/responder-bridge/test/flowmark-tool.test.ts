import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createFlowmarkTool, flowmarkTopics } from "@hak2i/responder-bridge";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { flowmarkProgram, writeTool } from "./tools.ts";

async function flowmark(program = flowmarkProgram(["one", "two"])) {
  const cwd = await temporaryDirectory();
  return { cwd, tool: createFlowmarkTool({ command: await writeTool(cwd, program), cwd }) };
}

test("the FlowMark tool returns the description, the params and the version", async () => {
  const { tool } = await flowmark();
  const { describe: topic, params } = flowmarkTopics;
  expect(tool.name).toBe("flowmark");
  expect(await tool.describe(topic.topic, topic)).toBe("Write it in FlowMark.\n");
  expect(await tool.params?.(params.topic, params)).toBe("normalize: strict\n");
  expect(await tool.version?.()).toBe("0.1.6");
});

describe("the report decides, not the exit code", () => {
  test.each([
    ["clean, exit code 0", "# Title\none\ntwo", true, '"warnings": []'],
    ["warnings only, exit code 1", "one\ntwo", true, '"no title"'],
    ["errors, exit code 2", "# Title\none", false, '"missing two"'],
  ])("%s", async (_, document, ok, words) => {
    const { tool, cwd } = await flowmark();
    await writeFile(path.join(cwd, "draft.md"), document);
    const validation = await tool.validate(path.join(cwd, "draft.md"));
    expect(validation.ok).toBe(ok);
    expect(validation.logText).toContain(words);
  });

  test.each([
    ["a usage error without JSON", 'console.error("usage: flowmark"); process.exitCode = 2;', "exited with code 2: usage: flowmark"],
    ["JSON without a report", "console.log('{\"warnings\":[]}')", "exited with code 0"],
    ["a report whose errors are not a list", "console.log('{\"errors\":0}')", "exited with code 0"],
    ["null", "console.log('null')", "exited with code 0"],
    ["a crash", "throw new Error('boom')", "boom"],
  ])("%s is no verdict", async (_, program, reason) => {
    const { tool } = await flowmark(program);
    await expect(tool.validate("draft.md")).rejects.toMatchObject({ code: "tool_failed", message: expect.stringContaining(reason) });
  });
});

describe("a failure is explained", () => {
  test.each([
    ["for a topic that FlowMark does not know", "poetry", "en"],
    ["for a language that FlowMark does not support", "ai", "de"],
  ])("%s", async (_, topic, language) => {
    const { tool } = await flowmark();
    await expect(tool.describe(topic, { arguments: ["--lang", language] })).rejects.toThrow(
      `\`describe ai --lang en\` works, so FlowMark may not know the topic "${topic}" or its arguments.`,
    );
  });

  test.each(["ai", "poetry"])("if another program has the name flowmark: %s", async (topic) => {
    const { tool } = await flowmark('console.error("flowmark: error: unrecognized arguments"); process.exitCode = 2;');
    await expect(tool.describe(topic)).rejects.toThrow(
      /unrecognized arguments This program is not the FlowMark that supports describe and validate\. A formatter has the same name\.$/,
    );
  });

  test("if the program does not exist", async () => {
    await expect(createFlowmarkTool({ command: ["no-such-flowmark"] }).describe("ai")).rejects.toThrow(/program not found\.$/);
  });
});
