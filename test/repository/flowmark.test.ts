import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { startScriptedServer } from "../../packages/bridge-client/test/scripted-server.ts";
import { document } from "../../packages/responder-bridge-cli/test/start-rb.ts";
import { compileCache } from "../harness/compile-cache.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const example = path.join(repository, "examples/flowmark");
const [, command = ""] = /```sh\n(PATH=[^`]+ npx rb run [^`]+)```/.exec(readFileSync(path.join(example, "README.md"), "utf8")) ?? [];

const valid = "# Release\n\n1. [developer] Run the tests -> 2, 1\n2. [manager] Approve the release -> end\n";
const invalid = "\t\n# Release\n\n1. [developer] Run the tests -> 3\n2. [manager] Approve the release -> end\n\t\n";

/** Runs the command of the README in a directory that looks like a clone. */
async function runExample(...drafts: string[]) {
  const clone = await temporaryDirectory();
  const home = path.join(clone, "home");
  await mkdir(home);
  for (const name of ["examples", "node_modules"]) await symlink(path.join(repository, name), path.join(clone, name));
  await writeFile(path.join(clone, "package.json"), "{}");
  const { url, requests } = await startScriptedServer(...drafts.map(document));
  const run = await execa("sh", ["-c", command], {
    cwd: clone,
    env: {
      PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
      ...compileCache,
      ...{ HOME: home, NO_UPDATE_NOTIFIER: "1", OPENAI_API_KEY: "sk-of-the-test", OPENAI_BASE_URL: `${url}/v1` },
    },
    extendEnv: false,
    reject: false,
  });
  const out = path.join(clone, "artifacts/flow-001");
  return { run, requests, files: await readdir(out, { recursive: true }), read: (name: string) => readFile(path.join(out, name), "utf8") };
}

test("the command of the README corrects an invalid draft, and leaves the document and every step", async () => {
  const { run, requests, files, read } = await runExample(invalid, valid);
  expect(run).toMatchObject({
    exitCode: 0,
    stdout: "artifacts/flow-001/final/final.md",
    stderr: [1, 2]
      .flatMap((number) => [
        `iteration ${number} of 3: waiting for openai gpt-5.2`,
        `iteration ${number} of 3: ${number === 1 ? "not valid" : "valid"}`,
      ])
      .join("\n"),
  });
  expect(files.toSorted()).toEqual([
    ...["final", "final/final.md", "final/validation.log"],
    ...["inputs", "inputs/describe.md", "inputs/materials.txt", "inputs/params.md", "iterations"],
    ...["01", "02"].flatMap((number) =>
      ["", "/draft.md", "/prompt.json", "/validation.log"].map((name) => `iterations/iter-${number}${name}`),
    ),
    "meta.json",
  ]);
  expect(await read("final/final.md")).toBe(valid);
  expect(JSON.parse(await read("final/validation.log"))).toEqual({ mode: "strict", errors: [], warnings: [] });
  expect(await read("iterations/iter-01/draft.md")).toBe(invalid);
  expect(JSON.parse(await read("iterations/iter-01/validation.log"))).toMatchObject({
    errors: [
      { code: "E001", line: 1 },
      { code: "E002", line: 2 },
      { code: "E004", message: 'There is no step "3".' },
    ],
  });
  expect(JSON.parse(await read("meta.json"))).toMatchObject({
    ...{ provider: "openai", model: "gpt-5.2", tool: { name: "flowmark", version: "flowmark-example 1.0.0" } },
    ...{ describeTopic: "ai", paramsTopic: "normalize", iterations: 2, ok: true, error: null },
  });

  expect(requests.map(({ method, target, headers }) => [method, target, headers.authorization])).toEqual(
    Array(2).fill(["POST", "/v1/chat/completions", "Bearer sk-of-the-test"]),
  );
  const [first = "", second = ""] = requests.map(({ body }) => JSON.parse(body).messages.at(-1).content as string);
  for (const part of ["inputs/describe.md", "inputs/params.md", "inputs/materials.txt"]) expect(first).toContain(await read(part));
  expect(first).toContain(await readFile(path.join(example, "notes.md"), "utf8"));
  expect(second).toContain(first.replace(/Write the document\.$/, ""));
  expect(second).toContain(invalid);
  expect(second).toContain(await read("iterations/iter-01/validation.log"));
  expect(second).toContain("Fix to pass validator. Do not reduce enumeration.");
});

test("the command of the README ends with exit code 1 if every draft is invalid", async () => {
  const { run, requests, read } = await runExample(invalid);
  expect([run.exitCode, run.stdout, requests.length]).toEqual([1, "", 3]);
  expect(await read("final/INVALID.txt")).toBe("Not valid after 3 iteration(s).\n");
});

describe("the validator of the example", () => {
  const flowmark = (...args: string[]) => execa(path.join(example, "bin/flowmark"), args, { reject: false, env: { ...compileCache } });

  test("the validator of the example accepts the flow in its own description", async () => {
    const { stdout } = await flowmark("describe", "ai", "--lang", "en");
    const [flow = ""] = /^# Title.*?-> end$/ms.exec(stdout) ?? [];
    expect(await validate(flow)).toEqual({ exitCode: 0, errors: [], warnings: [] });
  });

  test.each([
    ["an empty document", "", ["E001 1", "E005 1"]],
    ["a code fence", `\`\`\`\n${valid}\`\`\``, ["E001 1", "E002 2", "E002 6"]],
    ["a step without a role", "# T\n\n1. Run -> end", ["E002 3", "E005 1"]],
    ["a role in capitals", "# T\n1. [Dev] Run -> end", ["E002 2", "E005 1"]],
    ["a gap in the numbers", "# T\n1. [dev] Run -> end\n3. [dev] Stop -> 1", ["E003 3"]],
    ["a missing step", "# T\n1. [dev] Run -> 2, end", ["E004 2"]],
    ["a flow without an end", "# T\n1. [dev] Run -> 1", ["E005 1"]],
  ])("the validator of the example rejects %s", async (_, text, expected) => {
    const { exitCode, errors } = await validate(text);
    expect([exitCode, errors.map(({ code, line }) => `${code} ${line}`)]).toEqual([2, expected]);
  });

  test("the validator of the example accepts a long line with a warning and exit code 1", async () => {
    expect(await validate(`# T\n1. [dev] ${"x".repeat(100)} -> end`)).toMatchObject({
      exitCode: 1,
      errors: [],
      warnings: [{ code: "W001" }],
    });
  });

  test.each([[[]], [["describe", "ai"]], [["describe", "poetry", "--lang", "en"]], [["params", "ai", "--lang", "en"]], [["validate"]]])(
    "the validator of the example rejects the arguments %j",
    async (args) => {
      expect(await flowmark(...args)).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringMatching(/^usage: flowmark /) });
    },
  );

  async function validate(text: string) {
    const file = path.join(await temporaryDirectory(), "draft.md");
    await writeFile(file, text);
    const { exitCode, stdout } = await flowmark("validate", file);
    const { errors, warnings } = JSON.parse(stdout) as Record<"errors" | "warnings", { code: string; line: number }[]>;
    return { exitCode, errors, warnings };
  }
});
