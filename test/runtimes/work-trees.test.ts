import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Connection } from "#contract";
import { createTreeSettings, listTrees } from "../scenarios/tree-repository.ts";
import { openCellBench } from "./table/cell-bench.ts";
import { exceptions } from "./table/exceptions.ts";
import { type Runtime, runtimes } from "./table/runtimes.ts";

const columns = Object.entries(runtimes).flatMap(([runtime, { connections }]) =>
  connections.map((connection) => [runtime as Runtime, connection] as const),
);

const cannotResume = (runtime: Runtime, connection: Connection): boolean =>
  exceptions.some((exception) => exception.scenario === "resume" && exception.runtime === runtime && exception.connection === connection);

test.each(columns)(
  "%s over %s edits in a work tree, and a task that resumes its session continues on its branch",
  async (runtime, connection) => {
    const directory = mkdtempSync(path.join(tmpdir(), "bridge-source-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const { settings, head } = createTreeSettings(directory);
    const bench = await openCellBench(runtime, connection, { BRIDGE_REPOSITORIES_FILE: settings.BRIDGE_REPOSITORIES_FILE });
    onTestFinished(() => bench.close());
    const repository = { name: "web", branch: "topic" };
    const edit = async (word: string, fields: { resumeToken?: string }) => {
      const command = `cat notes.txt; echo ${word} >> notes.txt`;
      const answer = fields.resumeToken === undefined ? { text: "Done." } : ({ recall: true } as const);
      const message = `Keep the word ${word}. ${bench.model.scenario([{ tools: [{ kind: "shell", command }] }, answer])}`;
      const taskId = await bench.dispatch({ message, profile: "modify", approvals: "allow", repository, ...fields });
      const { state, result } = await bench.ended(taskId);
      expect({ state, error: result?.error, fault: result?.repository?.error }).toEqual({ state: "completed" });
      const diff = (await (await bench.bridge.call("GET", `/api/v2/tasks/${taskId}/diff`)).json()) as { diff: string };
      return { result, diff: diff.diff };
    };

    const first = await edit("zebra", {});
    expect(first.result?.repository).toMatchObject({ baseCommit: head, commits: 1, files: 1, insertions: 1, deletions: 0 });
    expect(first.diff).toContain(" first\n+zebra\n");
    const resumeToken = first.result?.resumeToken ?? "";
    if (cannotResume(runtime, connection)) {
      expect(resumeToken).toBe("");
      return;
    }
    const second = await edit("quagga", { resumeToken });
    // The program has found its session, and the file as the first task left it.
    expect(second.result?.output).toContain("Keep the word zebra.");
    expect(second.result?.repository).toMatchObject({ baseCommit: first.result?.repository?.headCommit, commits: 1, insertions: 1 });
    expect(second.diff).toContain(" zebra\n+quagga\n");
    await expect.poll(() => listTrees(bench.dataDir)).toEqual([]);
    // The directory of the programs that Bridge itself runs, such as git, stays.
    await expect.poll(() => readdirSync(path.join(bench.dataDir, "tmp"))).toEqual(["host"]);
  },
);
