import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";
import { CommandError } from "./command-error.ts";

/** How git ended. */
export interface GitEnd {
  exitCode: number;
  /** The bytes, because files and their names need not be UTF-8. */
  stdout: Buffer;
  stderr: string;
}

/** Where git runs, and with what. */
interface GitOptions {
  cwd: string;
  input?: string | Buffer;
  /** In addition to the environment of this program. */
  env?: Readonly<Record<string, string>>;
}

/** Runs git in a directory, with an input. Throws a CommandError if git is not installed. */
export async function runGit(args: readonly string[], { cwd, input = "", env = {} }: GitOptions): Promise<GitEnd> {
  // Messages of git are parsed, so they must not be translated.
  const child = spawn("git", args, { cwd, env: { ...process.env, ...env, LC_ALL: "C" }, stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "close");
  // git can end before it has read all of its input.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  try {
    const [stdout, stderr] = await Promise.all([buffer(child.stdout), text(child.stderr), exited]);
    return { exitCode: child.exitCode ?? -1, stdout, stderr };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new CommandError("failed", "git was not found on PATH.", {
      hint: "Install git, for example with: apt-get install git",
      cause: error,
    });
  }
}
