import { spawn } from "node:child_process";
import { expect, onTestFinished } from "vitest";

/** A program on a terminal of 100 columns. */
export interface Terminal {
  /** What the terminal has shown, with all control sequences. */
  shown(): string;
  /** Types these characters; `\x03` is Ctrl-C. */
  type(text: string): void;
  waitFor(pattern: RegExp): Promise<void>;
  /** Resolves with the exit code. */
  exited: Promise<number>;
}

/** Starts a program on a terminal. It is stopped at the end of the test. */
export function openTerminal(argv: readonly string[], { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string }): Terminal {
  const words = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // The shell prints its process id and then becomes the program.
  const command = `stty cols 100; echo "pid $$"; exec ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let all = "";
  child.stdout.on("data", (data: Buffer) => {
    all += data;
  });
  const exited = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)));
  onTestFinished(async () => {
    const pid = /pid (\d+)/.exec(all)?.[1];
    if (child.exitCode === null && pid !== undefined) killIfAlive(Number(pid));
    await exited;
  });
  const shown = (): string => all.replace(/^pid \d+\r\n/, "");
  return {
    shown,
    type: (text) => void child.stdin.write(text),
    waitFor: (pattern) => expect.poll(shown).toMatch(pattern),
    exited,
  };
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
