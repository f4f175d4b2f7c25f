import { mkdirSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openToolEndpoint, receivedResults } from "../adapters/shared/model-api/tool-endpoint.ts";
import { openVercelFixture } from "../adapters/shared/model-api/vercel-fixture.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { directoryOutsideTmp, openSandbox } from "./open-sandbox.ts";

const script = path.join(import.meta.dirname, "../fixtures/programs/wild-mcp-server.js");

test("an MCP server of a task on a model API works in the sandbox, and leaves no process", async () => {
  const root = directoryOutsideTmp();
  const directories = { workspace: `${root}/workspace`, cwd: `${root}/workspace`, home: `${root}/home`, tmp: `${root}/tmp` };
  for (const directory of Object.values(directories)) mkdirSync(directory, { recursive: true });
  const { url, requests } = await openToolEndpoint([{ id: "c1", name: "mcp__wild__tell" }]);
  const bench = await openVercelFixture({ baseUrl: url }, { sandbox: await openSandbox() });
  const { result } = await bench.run({
    directories,
    mcpServers: [{ name: "wild", transport: "stdio", command: process.execPath, args: [script, "leave-child"] }],
  });
  expect(result).toMatchObject({ status: "ok", output: "Done." });
  const [, second] = requests;
  const report = JSON.parse((second === undefined ? {} : receivedResults(second))["c1"] ?? "{}") as { pid: number; cwd: string };
  // A process id in the PID namespace of the sandbox.
  expect(report).toMatchObject({ cwd: directories.cwd, pid: expect.any(Number) });
  expect(report.pid).toBeLessThan(20);
  expect(processesOf(`${bench.lastTask().request.taskId}/mcp-1`)).toEqual([]);
});
