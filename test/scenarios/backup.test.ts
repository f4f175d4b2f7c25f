import { mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** The commands of the page about operations that back up a database and restore it. */
async function readCommands(): Promise<[backup: string, restore: string]> {
  const page = await readFile(path.join(repository, "docs/operations.md"), "utf8");
  const section = page.slice(page.indexOf("\n## Backup\n"), page.indexOf("\n### Back up PostgreSQL\n"));
  const [backup = "", files = "", restore = "", ...others] = [...section.matchAll(/```sh\n(.+?)```/gs)].map(
    ([, commands = ""]) => commands,
  );
  expect(others).toEqual([]);
  return [backup + files, restore];
}

test("the documented commands back up a running Bridge and restore the database", async () => {
  const checkout = await temporaryDirectory();
  const dataDir = path.join(checkout, "data");
  await mkdir(dataDir);
  await symlink(path.join(repository, "node_modules"), path.join(checkout, "node_modules"));
  const [backup, restore] = await readCommands();
  const env = { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, BRIDGE_DATA_DIR: dataDir };
  const runTask = async (bridge: Awaited<ReturnType<typeof startBridgeProgram>>, taskId: string) =>
    (await bridge.call("POST", "/api/v2/dispatch", { taskId, agentId: "a", message: "m" }, { prefer: "wait=10" })).json();

  const first = await startBridgeProgram(dataDir, shellCommand("echo done"));
  expect(await runTask(first, "before")).toMatchObject({ state: "completed" });
  expect((await execa("bash", ["-e", "-c", backup], { cwd: checkout, env })).stdout).toMatch(/^file\t.*bridge-backup\.db\n/);
  const { stdout: files } = await execa("tar", ["-tzf", "bridge-files.tar.gz"], { cwd: checkout });
  expect(files.split("\n")).toEqual(expect.arrayContaining(["data/token", "data/workspaces/"]));
  expect(files).not.toMatch(/bridge\.db|\.lock/);
  expect(await runTask(first, "after")).toMatchObject({ state: "completed" });
  const events = (await (await first.call("GET", "/api/v2/tasks/after/events")).json()) as { data: { id: string }[] };
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);

  await execa("bash", ["-e", "-c", restore], { cwd: checkout, env });
  const second = await startBridgeProgram(dataDir, shellCommand("echo done"));
  expect(await (await second.call("GET", "/api/v2/tasks/before")).json()).toMatchObject({ state: "completed" });
  expect((await second.call("GET", "/api/v2/tasks/after")).status).toBe(404);
  // The epoch is the part of an event id before the dash.
  const stale = await second.call("GET", "/api/events", undefined, { "last-event-id": events.data.at(-1)?.id ?? "" });
  const reader = stale.body?.getReader();
  let text = "";
  while (!text.includes("\nevent: ")) text += new TextDecoder().decode((await reader?.read())?.value);
  await reader?.cancel();
  expect(text).toContain("event: stream.gap");
});
