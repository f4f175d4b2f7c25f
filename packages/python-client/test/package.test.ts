import { readFileSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { clientDirectory, python, pythonEnvironment, requirePythonModules } from "./python.ts";

const repository = path.resolve(import.meta.dirname, "../../..");
const runPython = (args: string[], options: { cwd?: string; env?: Record<string, string> } = {}) =>
  execa(python, args, { cwd: clientDirectory, extendEnv: false, ...options, env: { ...pythonEnvironment, ...options.env } });

beforeAll(requirePythonModules);

test("the Python tests of the client pass", async () => {
  const { stderr } = await runPython(["-m", "unittest", "discover", "-s", "test"]);
  expect(stderr).toMatch(/Ran \d{2,} tests/);
});

test("the client, its tests and the examples of its README have no type errors for Python 3.10", async () => {
  const directory = await temporaryDirectory();
  const readme = await readFile(path.join(clientDirectory, "README.md"), "utf8");
  const blocks = [...readme.matchAll(/```python\n(.+?)```/gs)].map(([, code = ""]) => code);
  expect(blocks.length).toBeGreaterThan(6);
  const examples = blocks.map((code, index) => ({ file: path.join(directory, `block_${index}.py`), code }));
  // A block continues the first one, which creates the client.
  const setup = "from bridge_client import BridgeClient\nbridge = BridgeClient('http://127.0.0.1:8787', token='')\n";
  for (const { file, code } of examples) await writeFile(file, code.includes("BridgeClient(") ? code : setup + code);
  const cache = path.join(directory, "cache");
  const files = ["src", "test", ...examples.map(({ file }) => file)];
  const { stdout } = await runPython(["-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", cache, ...files], {
    env: { MYPYPATH: path.join(clientDirectory, "src") },
  });
  expect(stdout).toContain("Success: no issues found");
});

describe("the types of the client", () => {
  interface Schema {
    properties: Record<string, unknown>;
    required?: string[];
  }
  const { schemas } = (
    parse(readFileSync(path.join(repository, "openapi.yaml"), "utf8")) as { components: { schemas: Record<string, Schema> } }
  ).components;
  /** Types of the client whose schema has another name. */
  const names: Record<string, string> = { Dispatch: "DispatchRequest" };
  const described = ["Dispatch", "AcceptedTask", "ListedTask", "Task", "CallbackDelivery", "ExecutionResult", "CancelledTask"];
  described.push("DispatchCheck", "Approval", "Callback", "CallbackDetails", "CallbackAttempt", "CallbackBody", "Identity", "TaskFile");
  described.push(
    "Repository",
    "TaskRepository",
    "RepositoryOutcome",
    "TaskDiff",
    "Adapter",
    ...Object.keys(schemas).filter((name) => /(?<!Stream)Event$/.test(name) && name !== "Event"),
  );

  function expectFields(type: object | undefined, name: string, { properties, required = [] }: Schema): void {
    const optional = Object.keys(properties).filter((field) => !required.includes(field));
    expect({ name, ...type }).toEqual({ name, required: required.toSorted(), optional: optional.toSorted() });
  }

  test("the types of the client have the fields of openapi.yaml", async () => {
    const { stdout } = await runPython([path.join(import.meta.dirname, "describe_types.py")]);
    const types = JSON.parse(stdout) as Record<string, object>;
    expect(described.length).toBeGreaterThan(28);
    for (const name of described) {
      const { properties, required = [] } = schemas[name] as Schema;
      expectFields(types[names[name] ?? name], name, { properties, required });
      const data = properties["data"] as Schema | undefined;
      if (data?.properties !== undefined) expectFields(types[name.replace(/Event$/, "Data")], name, data);
    }
  });
});

test("the built package contains its types and runs a task", async () => {
  const directory = await temporaryDirectory();
  // Building writes into the sources.
  const sources = path.join(directory, "sources");
  await cp(clientDirectory, sources, { recursive: true });
  const build = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))";
  const { stdout } = await runPython(["-c", build, directory], { cwd: sources });
  const wheel = path.join(directory, stdout.trim().split("\n").at(-1) ?? "");
  const bridge = await startBridge();
  try {
    const program = `
import json, os, zipfile
from bridge_client import BridgeClient
with BridgeClient(os.environ["BRIDGE_URL"], token="secret-alpha") as bridge:
    task = bridge.run({"provider": "memory", "agentId": "writer", "message": "Hello, stranger."})
with zipfile.ZipFile(os.environ["PYTHONPATH"]) as wheel:
    metadata = next(name for name in wheel.namelist() if name.endswith("METADATA"))
    print(json.dumps([task["result"]["output"], wheel.namelist(), wheel.read(metadata).decode()]))
`;
    // Python imports modules from a wheel, which is a zip file.
    const { stdout: output } = await runPython(["-c", program], { cwd: directory, env: { PYTHONPATH: wheel, BRIDGE_URL: bridge.url } });
    const [answer, names, metadata] = JSON.parse(output) as [string, string[], string];
    expect(answer).toBe("Hello, stranger.");
    expect(names).toEqual(expect.arrayContaining(["bridge_client/py.typed", "bridge_client/client.py", "bridge_client/async_client.py"]));
    expect(names.filter((name) => !/^bridge_client[/-]/.test(name))).toEqual([]);
    expect(metadata.match(/^Requires-.*$/gm)).toEqual(["Requires-Python: >=3.10", "Requires-Dist: httpx (<1,>=0.23)"]);
  } finally {
    await bridge.close();
  }
});
