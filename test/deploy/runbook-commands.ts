import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import { onTestFinished } from "vitest";
import type { AtEnd } from "../support/database-subject-types.ts";
import { findProgram } from "./find-program.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** The commands of each section of the runbook: one text for each block, in the order of the page. */
export const runbookCommands: ReadonlyMap<string, readonly string[]> = new Map(
  readFileSync(path.join(repository, "docs/runbook.md"), "utf8")
    .split(/^##+ /m)
    .map((section) => [
      section.slice(0, section.indexOf("\n")),
      [...section.matchAll(/^```sh\n(.+?)^```$/gms)].map(([, commands = ""]) => commands),
    ]),
);

/** Creates a directory like a checkout whose Bridge has its data in `data/`. */
export async function createCheckout(atEnd: AtEnd = onTestFinished): Promise<{ checkout: string; dataDir: string }> {
  const checkout = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  atEnd(() => rm(checkout, { recursive: true, force: true }));
  const dataDir = path.join(checkout, "data");
  await mkdir(dataDir);
  await symlink(path.join(repository, "node_modules"), path.join(checkout, "node_modules"));
  return { checkout, dataDir };
}

/** Runs one block of commands as an operator does. Returns its exit code and what it printed. */
export async function runCommands(
  commands: string,
  { checkout, env }: { checkout: string; env: Record<string, string> },
): Promise<{ exitCode: number | undefined; output: string }> {
  for (const program of ["curl", "psql"])
    if (commands.includes(`${program} `)) findProgram(program, program === "psql" ? "postgresql" : program);
  const { exitCode, all } = await execa("bash", ["-e", "-c", commands], {
    cwd: checkout,
    reject: false,
    all: true,
    extendEnv: false,
    env: { PATH: `${path.join(repository, "node_modules/.bin")}:${process.env["PATH"]}`, HOME: checkout, ...env },
  });
  return { exitCode, output: all };
}
