import type { FileHandle } from "node:fs/promises";
import { createFileInside, makeDirectoryInside, NotADirectory } from "@hak2i/nofollow-fs";

/** Where a council leaves its traces, relative to the workspace. */
export const BRIDGE_OUTPUTS = ".outputs/bridges";
export const COUNCIL_OUTPUTS = ".outputs/council";

/** Files of one name and one second, at most. */
const MOST_COPIES = 100;

/** The files of one council. */
export interface Artifacts {
  /** Writes one line of the event log, in the order of the calls; a disk that is full loses lines and stops nobody. */
  log(event: Record<string, unknown>): void;
  /** Writes a file beside the log, under the same name with another ending. */
  write(ending: "md" | "json", content: string): Promise<void>;
  /** Resolves when everything is written; nothing is written after. */
  close(): Promise<void>;
  /** What was written, relative to the workspace. */
  readonly paths: string[];
  /** What could not be written, in words. */
  readonly fault: string | null;
}

/** The options of `openArtifacts`. */
export interface ArtifactOptions {
  /** Root of the workspace, absolute. */
  workspace: string;
  /** Below the workspace, as one of the constants above. */
  directory: string;
  /** File name without its ending: letters, digits, `-`, `_`. */
  name: string;
  /** Begin a log of events? */
  hasLog: boolean;
}

/**
 * Opens the files of a council inside a workspace. A task may have written there before: no link is followed, and nothing that exists is written over.
 */
export async function openArtifacts({ workspace, directory, name, hasLog }: ArtifactOptions): Promise<Artifacts> {
  const paths: string[] = [];
  let fault: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  let eventLog: FileHandle | null = null;
  let stem = name;
  // Opened again for each file, because a task may have moved it, and `paths` must contain the real location.
  const openDirectory = () => makeDirectoryInside(workspace, directory.split("/"), { mode: 0o777 });
  try {
    using _ = await openDirectory();
  } catch (error) {
    const reason = error instanceof NotADirectory ? `${error.entry} is not a directory` : (error as NodeJS.ErrnoException).code;
    fault = `Cannot write to ${directory}: ${reason}`;
  }
  const isUsable = fault === null;

  const inOrder = (work: () => Promise<void>): Promise<void> => {
    writing = writing.then(async () => {
      if (!isUsable) return;
      try {
        await work();
      } catch (error) {
        fault ??= `Not everything could be written to ${directory}: ${(error as NodeJS.ErrnoException).code ?? "failure"}`;
      }
    });
    return writing;
  };
  const create = async (file: string): Promise<FileHandle> => {
    using at = await openDirectory();
    const handle = await createFileInside(at, file, 0o644);
    paths.push(`${directory}/${file}`);
    return handle;
  };

  if (hasLog)
    await inOrder(async () => {
      // Another council of the same session may have begun in the same second.
      for (let copy = 1; eventLog === null; copy += 1) {
        stem = copy === 1 ? name : `${name}-${copy}`;
        eventLog = await create(`${stem}.jsonl`).catch((error: NodeJS.ErrnoException) => {
          if (error.code === "EEXIST" && copy < MOST_COPIES) return null;
          throw error;
        });
      }
    });
  return {
    log(event) {
      const line = `${JSON.stringify(event)}\n`;
      void inOrder(async () => void (await eventLog?.writeFile(line)));
    },
    write: (ending, content) =>
      inOrder(async () => {
        await using handle = await create(`${stem}.${ending}`);
        await handle.writeFile(content);
      }),
    async close() {
      await inOrder(async () => void (await eventLog?.close()));
      eventLog = null;
    },
    paths,
    get fault() {
      return fault;
    },
  };
}

/** `20261121-193905`, in UTC: part of a file name. */
export const fileTime = (time: Date): string => time.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
