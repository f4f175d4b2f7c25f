import { createTurns, withTimeout } from "@hak2i/async-kit";

/*
 * At its start, Codex creates a directory in CODEX_HOME with links to its executable, which its sandbox needs, and removes the directories
 * of processes that have ended. It can also remove the directory of a process that starts at the same time. The commands of that process
 * then fail with "bwrap: execvp codex-linux-sandbox". So Codex processes with one CODEX_HOME start one after the other.
 */
const turns = createTurns();

/** How long a start may delay the next one. */
const START_LIMIT_MS = 5_000;

/**
 * Waits until no earlier task is starting Codex with the same CODEX_HOME, or until the task is canceled. Call the returned function when
 * the process has started or ended; the next task waits for 5 s at most.
 */
export async function waitForStartTurn({ CODEX_HOME = "" }: Readonly<Record<string, string>>, signal: AbortSignal): Promise<() => void> {
  const begun = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const turn = async (): Promise<void> => {
    begun.resolve();
    await withTimeout(started.promise, START_LIMIT_MS, () => {});
  };
  turns.take(CODEX_HOME, turn, signal).catch(() => begun.resolve());
  await begun.promise;
  return started.resolve;
}
