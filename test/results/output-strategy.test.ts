import { createHash } from "node:crypto";
import { symlink, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { ExecutionResult } from "#contract";
import { createSchemaChecker } from "../../src/requests/schema-checker.ts";
import { applyOutputStrategy, type OutputSource, outputInstructions, stateOfOutputFile } from "../../src/results/output-strategy.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const schemas = createSchemaChecker();
afterAll(() => schemas.close());
const source = (workspace: string, fileBefore: OutputSource["fileBefore"] = null): OutputSource => ({
  tenant: "default",
  workspace,
  schemas,
  fileBefore,
});
const ok = (fields: Partial<ExecutionResult> = {}): ExecutionResult => ({ status: "ok", durationMs: 1, connection: "cli", ...fields });

test("only file and structured outputs add instructions for the runtime", () => {
  expect(outputInstructions({ type: "stream" })).toBeUndefined();
  expect(outputInstructions({ type: "file", path: 'a"b.md' })).toContain('"a\\"b.md"');
  expect(outputInstructions({ type: "structured", schema: { type: "object" } })).toContain('{"type":"object"}');
});

describe("a structured output", () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const strategy = { type: "structured", schema } as const;

  test.each([
    ["the runtime's own outputs", ok({ outputs: { n: 1 }, output: '{"n": 2}' }), { status: "ok", output: '{"n":1}', outputs: { n: 1 } }],
    ["outputs that came without a text", ok({ outputs: { n: 1 }, output: "" }), { status: "ok", output: '{"n":1}', outputs: { n: 1 } }],
    ["the text", ok({ output: '{"n": 2}' }), { status: "ok", output: '{"n": 2}', outputs: { n: 2 } }],
    [
      "a fenced block of the text",
      ok({ output: 'so\n```json\n{"n": 2}\n```\nDone.' }),
      { status: "ok", output: '{"n": 2}', outputs: { n: 2 } },
    ],
    ["an object in prose", ok({ output: 'It is {"n": 2}, I think.' }), { status: "ok", output: '{"n": 2}', outputs: { n: 2 } }],
    [
      "no object",
      ok({ output: "sorry" }),
      { status: "error", errorCode: "output_invalid", output: "sorry", error: "The output contains no JSON object." },
    ],
    [
      "an object that does not fit",
      ok({ output: '{"n": "x"}' }),
      {
        status: "error",
        errorCode: "output_invalid",
        output: '{"n": "x"}',
        error: "The output does not match the schema: n must be integer.",
      },
    ],
  ])("a structured output is read from %s", async (_, result, expected) => {
    expect(await applyOutputStrategy(strategy, result, source("/nowhere"))).toMatchObject(expected);
  });

  test("a structured output drops outputs that do not match the schema", async () => {
    expect(await applyOutputStrategy(strategy, ok({ outputs: { n: "x" } }), source("/nowhere"))).not.toHaveProperty("outputs");
  });

  test("a pattern that backtracks without end is stopped", async () => {
    const slow = { type: "object", properties: { s: { type: "string", pattern: "^(a+)+$" } } };
    const outputs = { s: `${"a".repeat(50)}!` };
    const result = await applyOutputStrategy({ type: "structured", schema: slow }, ok({ outputs }), source("/nowhere"));
    expect(result).toMatchObject({ status: "error", errorCode: "output_invalid" });
  });
});

describe("a file output", () => {
  test("a file output returns the content, size and digest of the file", async () => {
    const workspace = await temporaryDirectory();
    await writeFile(path.join(workspace, "r.md"), "grüß");
    const sha256 = createHash("sha256").update("grüß").digest("hex");
    expect(await applyOutputStrategy({ type: "file", path: "r.md" }, ok({ output: "text" }), source(workspace))).toMatchObject({
      status: "ok",
      output: "grüß",
      outputs: { path: "r.md", bytes: 6, sha256 },
    });
  });

  test.each([
    ["Latin-1", Buffer.from("Gr\xfc\xdfe", "latin1")],
    ["UTF-16", Buffer.from("\ufeffa", "utf16le")],
    ["an image", Buffer.from("89504e470d0a1a0a00", "hex")],
  ])("a file output returns %s as base64, because text would lose its bytes", async (_, content) => {
    const workspace = await temporaryDirectory();
    await writeFile(path.join(workspace, "r"), content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const result = await applyOutputStrategy({ type: "file", path: "r" }, ok(), source(workspace));
    expect(result.outputs).toEqual({ path: "r", bytes: content.length, sha256, encoding: "base64" });
    expect(Buffer.from(result.output ?? "", "base64")).toEqual(content);
  });

  test("a file output is output_invalid if the file is missing or a link out of the workspace", async () => {
    const workspace = await temporaryDirectory();
    const elsewhere = path.join(await temporaryDirectory(), "secret");
    await writeFile(elsewhere, "secret");
    await symlink(elsewhere, path.join(workspace, "link.md"));
    for (const name of ["missing.md", "link.md"]) {
      const result = await applyOutputStrategy({ type: "file", path: name }, ok({ output: "text" }), source(workspace));
      expect(result).toMatchObject({ status: "error", errorCode: "output_invalid", output: "text" });
      expect(JSON.stringify(result)).not.toContain("secret");
    }
  });

  test("a file output is output_invalid if the file is from before the task", async () => {
    const workspace = await temporaryDirectory();
    const strategy = { type: "file", path: "r.md" } as const;
    await writeFile(path.join(workspace, "r.md"), "Report of Monday");
    const before = stateOfOutputFile(strategy, workspace);
    expect(await applyOutputStrategy(strategy, ok({ output: "There is no report today." }), source(workspace, before))).toEqual({
      ...ok({ output: "There is no report today." }),
      status: "error",
      errorCode: "output_invalid",
      error: "The runtime did not write the file r.md. Its content is from before the task.",
    });
  });

  test("a file output is the file if the task wrote the same content again, even with an old modification time", async () => {
    const workspace = await temporaryDirectory();
    const strategy = { type: "file", path: "r.md" } as const;
    const file = path.join(workspace, "r.md");
    await writeFile(file, "Report of Monday");
    const before = stateOfOutputFile(strategy, workspace);
    // The change time has the resolution of a kernel tick.
    while (isEqual(before, stateOfOutputFile(strategy, workspace))) {
      await writeFile(file, "Report of Monday");
      await utimes(file, 0, 0);
    }
    expect(await applyOutputStrategy(strategy, ok(), source(workspace, before))).toMatchObject({
      status: "ok",
      output: "Report of Monday",
    });
  });
});

const isEqual = (a: OutputSource["fileBefore"], b: OutputSource["fileBefore"]): boolean => a?.ctimeNs === b?.ctimeNs;
