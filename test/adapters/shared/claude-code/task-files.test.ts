import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { ExecutionRequest, McpServerSpec } from "#contract";
import { writeFiles } from "../../../../adapters/shared/claude-code/task-files.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const server: McpServerSpec = { name: "words", transport: "stdio", command: "/bin/words", args: [] };
const requestIn = (tmp: string) =>
  ({ systemPrompt: "Be brief.", profile: "modify", mcpServers: [server], directories: { tmp } }) as unknown as ExecutionRequest;

test("files of a task can be read by their owner only", async () => {
  const tmp = path.join(await temporaryDirectory(), "tmp");
  const files = await writeFiles(requestIn(tmp));
  expect(await readFile(files.systemPrompt, "utf8")).toBe("Be brief.");
  expect(await readFile(files.mcpConfig, "utf8")).toContain("/bin/words");
  for (const file of Object.values(files)) expect((await lstat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(tmp)).toSorted()).toEqual(["mcp.json", "system-prompt.md"]);
});

test("a task with the profile inspect has no MCP configuration file", async () => {
  const tmp = await temporaryDirectory();
  await writeFiles({ ...requestIn(tmp), profile: "inspect" });
  expect(await readdir(tmp)).toEqual(["system-prompt.md"]);
});

test("files of a task replace existing files in its TMPDIR, and never the target of a link there", async () => {
  const [tmp, outside] = [await temporaryDirectory(), await temporaryDirectory()];
  await writeFile(path.join(outside, "kept"), "kept");
  await symlink(path.join(outside, "kept"), path.join(tmp, "system-prompt.md"));
  await mkdir(path.join(tmp, "mcp.json/deep"), { recursive: true });
  const files = await writeFiles(requestIn(tmp));
  expect(await readFile(path.join(outside, "kept"), "utf8")).toBe("kept");
  expect(await readFile(files.systemPrompt, "utf8")).toBe("Be brief.");
  expect(await readFile(files.mcpConfig, "utf8")).toContain("/bin/words");
});
