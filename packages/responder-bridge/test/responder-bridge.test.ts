import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  createArtifactStore,
  createCommandTool,
  createMaterialsLoader,
  createResponderBridge,
  type GenerateRequest,
  type Iteration,
  type Provider,
  type ResponderBridgeOptions,
  ResponderError,
  type RunRequest,
  type ToolAdapter,
} from "@hak2i/responder-bridge";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { listTool, writeTool } from "./tools.ts";

type Answer = string | Error | ((request: GenerateRequest) => Promise<string>);

/** Creates a provider that returns the next answer for each request. */
function scriptedProvider(...answers: Answer[]): Provider & { requests: GenerateRequest[] } {
  const requests: GenerateRequest[] = [];
  return {
    name: "scripted",
    requests,
    async generate(request) {
      const answer = answers[requests.push(request) - 1];
      if (answer === undefined) throw new Error("one request too many");
      if (answer instanceof Error) throw answer;
      return { text: typeof answer === "string" ? answer : await answer(request) };
    },
  };
}

/** A tool in this process: a document is valid if it contains the word. */
const wordTool: ToolAdapter = {
  name: "word",
  describe: async (topic) => `about ${topic}`,
  validate: async (file) => {
    const ok = (await readFile(file, "utf8")).includes("right");
    return { ok, logText: ok ? "" : "The word is missing.\n" };
  },
};

/** Prepares a run in its own directory. */
async function prepare(options: Partial<ResponderBridgeOptions> & Pick<ResponderBridgeOptions, "provider">) {
  const directory = path.join(await temporaryDirectory(), "run-001");
  const responder = createResponderBridge({ tool: wordTool, artifacts: createArtifactStore(directory), ...options });
  const request: RunRequest = { model: "small", describe: { topic: "ai" } };
  return {
    directory,
    run: (more: Partial<RunRequest> = {}, ...rest: [Parameters<typeof responder.run>[1]?]) =>
      responder.run({ ...request, ...more }, ...rest),
    read: (name: string) => readFile(path.join(directory, name), "utf8"),
    meta: async () => JSON.parse(await readFile(path.join(directory, "meta.json"), "utf8")) as Record<string, unknown>,
    files: async () => {
      const found = await readdir(directory, { recursive: true, withFileTypes: true });
      return found
        .filter((one) => one.isFile())
        .map((one) => path.relative(directory, path.join(one.parentPath, one.name)))
        .toSorted();
    },
  };
}

const iterationFiles = (number: string): string[] =>
  ["draft.md", "prompt.json", "validation.log"].map((name) => `iterations/iter-${number}/${name}`);

describe("a document that is valid after two corrections", () => {
  test("a document that is valid after two corrections is written with a program as the tool, with all artifacts", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(path.join(cwd, "x"));
    await writeFile(path.join(cwd, "x/README.md"), "material of x\r\n");
    await writeFile(path.join(cwd, "README.md"), "material\n");
    const tool = createCommandTool({ name: "list", command: await writeTool(cwd, listTool(["one", "two"])), cwd });
    const provider = scriptedProvider("nothing", "# Draft\none", "# Draft\none\ntwo");
    const { run, directory, files, read, meta } = await prepare({ provider, tool, materials: createMaterialsLoader({ cwd }) });
    const iterations: Iteration[] = [];
    const before = Date.now();
    const result = await run(
      {
        describe: { topic: "lists", arguments: ["--lang", "en"] },
        params: { topic: "normalize" },
        materials: ["README.md", "x/README.md"],
        temperature: 0.2,
      },
      { onIteration: (one) => iterations.push(one) },
    );

    const all = [
      "final/final.md",
      "final/validation.log",
      "inputs/describe.md",
      "inputs/materials.txt",
      "inputs/params.md",
      ...iterationFiles("01"),
      ...iterationFiles("02"),
      ...iterationFiles("03"),
      "meta.json",
    ];
    expect(await files()).toEqual(all);
    expect(result).toEqual({ ok: true, document: "# Draft\none\ntwo", logText: "", iterations: 3, artifacts: expect.any(Array) });
    expect(result.artifacts.toSorted()).toEqual(all);
    expect(iterations).toEqual([
      { iteration: 1, maxIterations: 3, ok: false },
      { iteration: 2, maxIterations: 3, ok: false },
      { iteration: 3, maxIterations: 3, ok: true },
    ]);

    expect(await read("inputs/describe.md")).toBe("About lists --lang en\none\ntwo\n");
    expect(await read("inputs/params.md")).toBe("params of normalize\n");
    expect(await read("inputs/materials.txt")).toMatch(
      /^=== [^/]+\/README\.md ===\nmaterial\n\n=== .+ ===\n\n=== x\/README\.md ===\nmaterial of x\r\n/,
    );
    expect(await read("iterations/iter-02/draft.md")).toBe("# Draft\none");
    expect(await read("iterations/iter-02/validation.log")).toBe("missing: two\n");
    expect(await read("final/final.md")).toBe("# Draft\none\ntwo");
    expect(await read("final/validation.log")).toBe("");

    const { started_at, finished_at, ...facts } = await meta();
    expect(facts).toEqual({
      provider: "scripted",
      model: "small",
      tool: { name: "list", version: "list-tool 4.2" },
      describeTopic: "lists",
      describeArguments: ["--lang", "en"],
      paramsTopic: "normalize",
      paramsArguments: [],
      maxIterations: 3,
      iterations: 3,
      ok: true,
      error: null,
    });
    const [started, finished] = [Date.parse(String(started_at)), Date.parse(String(finished_at))];
    expect(started).toBeGreaterThanOrEqual(before);
    // The tool was started five times in between.
    expect(finished).toBeGreaterThan(started);
    expect(directory).toContain("run-001");
  });

  test("a document that is valid after two corrections is requested with the previous draft, its log and the complete first prompt", async () => {
    const provider = scriptedProvider("first {draft} $&\n", "second\n", "right");
    const { run, read } = await prepare({ provider });
    await run();
    const [first, second, third] = provider.requests.map(({ messages }) => messages.map(({ content }) => content).join("\n"));
    expect(first).toContain("about ai");
    expect(first).not.toContain("Do not reduce enumeration");
    for (const [prompt, draft] of [
      [second, "first {draft} $&\n"],
      [third, "second\n"],
    ]) {
      expect(prompt).toContain("about ai");
      expect(prompt).toContain(draft);
      expect(prompt).toContain("The word is missing.\n");
      expect(prompt).toContain("Fix to pass validator. Do not reduce enumeration.");
    }
    expect(third).not.toContain("first {draft}");
    expect(JSON.parse(await read("iterations/iter-02/prompt.json"))).toEqual(provider.requests[1]?.messages);
  });
});

test("a document that is valid at first takes one iteration, without params and materials", async () => {
  const provider = scriptedProvider("right");
  const { run, files, meta } = await prepare({ provider });
  expect(await run({ temperature: 0 })).toMatchObject({ ok: true, iterations: 1 });
  expect(provider.requests).toMatchObject([{ model: "small", temperature: 0 }]);
  expect(await files()).toEqual([
    "final/final.md",
    "final/validation.log",
    "inputs/describe.md",
    "inputs/materials.txt",
    ...iterationFiles("01"),
    "meta.json",
  ]);
  expect(await meta()).toMatchObject({ iterations: 1, tool: { name: "word", version: null }, paramsTopic: null });
});

test("meta.json contains neither a verdict nor an end during the run", async () => {
  const seen: unknown[] = [];
  const provider = scriptedProvider(async () => {
    seen.push(await meta());
    return "right";
  });
  const { run, meta } = await prepare({ provider });
  await run();
  expect(seen).toMatchObject([{ ok: null, finished_at: null, error: null, iterations: 0, started_at: expect.any(String) }]);
});

test("a run that ends invalid keeps the last draft and its log, marked as invalid", async () => {
  const { run, read, files, meta } = await prepare({ provider: scriptedProvider("a", "b", "c", "right") });
  expect(await run()).toMatchObject({ ok: false, document: "c", logText: "The word is missing.\n", iterations: 3 });
  expect(await files()).toContain("final/INVALID.txt");
  expect(await read("final/INVALID.txt")).toBe("Not valid after 3 iteration(s).\n");
  expect(await read("final/final.md")).toBe("c");
  expect(await read("final/validation.log")).toBe("The word is missing.\n");
  expect(await meta()).toMatchObject({ ok: false, error: null, iterations: 3, finished_at: expect.any(String) });
});

test.each([1, 2, 12])("the loop runs at most %i iterations when maxIterations is set", async (maxIterations) => {
  const provider = scriptedProvider(...Array.from({ length: maxIterations }, () => "wrong"));
  const { run, files } = await prepare({ provider });
  expect(await run({ maxIterations })).toMatchObject({ ok: false, iterations: maxIterations });
  expect(provider.requests).toHaveLength(maxIterations);
  expect(await files()).toContain(`iterations/iter-${String(maxIterations).padStart(2, "0")}/draft.md`);
});

test("the names of the provider, the tool and the model are optional", async () => {
  const { generate, requests } = scriptedProvider("right");
  const { describe: ask, validate } = wordTool;
  const { run, meta } = await prepare({ provider: { generate }, tool: { describe: ask, validate } });
  await run({ model: undefined });
  expect(requests).toMatchObject([{ model: "" }]);
  expect(await meta()).toMatchObject({ provider: null, model: null, tool: { name: null, version: null } });
});

describe("a run rejects", () => {
  test("a run rejects with the error of the provider, and keeps the completed steps", async () => {
    const { run, read, files, meta } = await prepare({ provider: scriptedProvider("wrong", new Error("The API is down.")) });
    await expect(run()).rejects.toThrow("The API is down.");
    expect(await files()).toEqual([
      "final/INVALID.txt",
      "final/final.md",
      "final/validation.log",
      "inputs/describe.md",
      "inputs/materials.txt",
      ...iterationFiles("01"),
      "iterations/iter-02/prompt.json",
      "meta.json",
    ]);
    expect(await read("final/final.md")).toBe("wrong");
    expect(await read("final/INVALID.txt")).toBe("The API is down.\n");
    expect(await meta()).toMatchObject({ ok: false, error: "The API is down.", iterations: 1, finished_at: expect.any(String) });
  });

  test("a run rejects with the error of a provider that fails in the first iteration", async () => {
    const { run, files, meta } = await prepare({ provider: scriptedProvider(new Error("The API is down.")) });
    await expect(run()).rejects.toThrow("The API is down.");
    expect(await files()).toEqual([
      "final/INVALID.txt",
      "inputs/describe.md",
      "inputs/materials.txt",
      "iterations/iter-01/prompt.json",
      "meta.json",
    ]);
    expect(await meta()).toMatchObject({ ok: false, iterations: 0 });
  });

  test("when the tool gives no verdict, and keeps its output as the log and the draft", async () => {
    const validate = async (): Promise<never> => {
      throw new ResponderError("tool_failed", "It crashed.", { output: "panic at 1" });
    };
    const { run, read, meta } = await prepare({ provider: scriptedProvider("right"), tool: { ...wordTool, validate } });
    await expect(run()).rejects.toThrow("It crashed.");
    expect(await read("iterations/iter-01/validation.log")).toBe("No verdict: It crashed.\npanic at 1");
    expect(await read("final/validation.log")).toBe("No verdict: It crashed.\npanic at 1");
    expect(await read("final/final.md")).toBe("right");
    expect(await meta()).toMatchObject({ ok: false, error: "It crashed.", iterations: 1 });
  });

  test("a run rejects for a missing material, tool or description before it creates the directory", async () => {
    const provider = scriptedProvider();
    const tool = createCommandTool({ command: ["no-such-tool"] });
    const missing = await prepare({ provider, tool });
    await expect(missing.run({ materials: ["/no/such.md"] })).rejects.toMatchObject({ code: "material_unreadable" });
    await expect(missing.run()).rejects.toMatchObject({ code: "tool_failed" });
    await expect(missing.files()).rejects.toThrow("ENOENT");
    expect(provider.requests).toEqual([]);
  });

  test("a run rejects for a directory with a previous run before it calls the model", async () => {
    const provider = scriptedProvider("right");
    const { run } = await prepare({ provider });
    await run();
    await expect(run()).rejects.toMatchObject({ code: "artifacts_unwritable" });
    expect(provider.requests).toHaveLength(1);
  });

  test.each([0, -1, 1.5, Number.NaN, 101])("when maxIterations is %s", async (maxIterations) => {
    const { run } = await prepare({ provider: scriptedProvider() });
    await expect(run({ maxIterations })).rejects.toMatchObject({
      code: "invalid_request",
      message: "maxIterations must be an integer from 1 to 100.",
    });
  });

  test("params for a tool without a params command", async () => {
    const { run } = await prepare({ provider: scriptedProvider() });
    await expect(run({ params: { topic: "normalize" } })).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("an abort rejects with its reason", () => {
  test.each(["a provider that uses the signal", "a provider that ignores the signal"])("while %s generates", async (which) => {
    const controller = new AbortController();
    const provider = scriptedProvider("wrong", ({ signal }) => {
      controller.abort(new Error("called off"));
      return new Promise((_, reject) => {
        if (which === "a provider that uses the signal") signal?.addEventListener("abort", () => reject(signal.reason));
        if (signal?.aborted && which === "a provider that uses the signal") reject(signal.reason);
      });
    });
    const { run, read, meta } = await prepare({ provider });
    await expect(run({}, { signal: controller.signal })).rejects.toThrow("called off");
    expect(await read("final/final.md")).toBe("wrong");
    expect(await meta()).toMatchObject({ ok: false, error: "called off", iterations: 1 });
  });

  test("while the tool validates", async () => {
    const controller = new AbortController();
    const validate = (): Promise<never> => {
      controller.abort(new Error("called off"));
      return new Promise(() => {});
    };
    const { run, meta } = await prepare({ provider: scriptedProvider("right"), tool: { ...wordTool, validate } });
    await expect(run({}, { signal: controller.signal })).rejects.toThrow("called off");
    expect(await meta()).toMatchObject({ ok: false, error: "called off" });
  });

  test("an abort rejects with its reason between two iterations", async () => {
    const controller = new AbortController();
    const provider = scriptedProvider("wrong", "right");
    const { run, files } = await prepare({ provider });
    const onIteration = (): void => controller.abort(new Error("called off"));
    await expect(run({}, { signal: controller.signal, onIteration })).rejects.toThrow("called off");
    expect(provider.requests).toHaveLength(1);
    expect(await files()).not.toContain("iterations/iter-02/prompt.json");
  });

  test("before the run starts", async () => {
    const { run, files } = await prepare({ provider: scriptedProvider() });
    await expect(run({}, { signal: AbortSignal.abort(new Error("called off")) })).rejects.toThrow("called off");
    await expect(files()).rejects.toThrow("ENOENT");
  });
});

test("a directory that cannot be created is reported at once", async () => {
  await expect(createArtifactStore("/proc/nowhere/deeper").create()).rejects.toThrow(/Cannot write artifacts to .*ENOENT/);
});
