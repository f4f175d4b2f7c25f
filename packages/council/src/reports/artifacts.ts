import type { FileHandle } from "node:fs/promises";
import { createFileInside, makeDirectoryInside, NotADirectory } from "@hak2i/nofollow-fs";

/** Directories of a council's files, relative to the workspace. */
export const BRIDGE_OUTPUTS = ".outputs/bridges";
export const COUNCIL_OUTPUTS = ".outputs/council";

/** Maximum number of event logs of one session that begin in the same second. */
const MAX_COPIES = 100;

/** The files of one council. */
export interface Artifacts {
  /** Writes one line to the event log, in the order of the calls. A write error loses the line and does not stop the council. */
  log(event: Record<string, unknown>): void;
  /** Writes a file next to the log, with the same name and another extension. */
  write(extension: "md" | "json", content: string): Promise<void>;
  /** Resolves when all writes are complete. Later writes are ignored. */
  close(): Promise<void>;
  /** Paths of the written files, relative to the workspace. */
  readonly paths: string[];
  /** Description of failed writes; null if there were none. */
  readonly fault: string | null;
}

/** The options of `openArtifacts`. */
export interface ArtifactOptions {
  /** Absolute path of the workspace. */
  workspace: string;
  /** Directory below the workspace: one of the constants above. */
  directory: string;
  /** File name without extension: letters, digits, `-` and `_`. */
  name: string;
  /** Whether to create an event log. */
  hasLog: boolean;
}

/**
 * Opens the files of a council in a workspace. Tasks write there too, so no link is followed and no existing file is overwritten.
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

  const runInOrder = (work: () => Promise<void>): Promise<void> => {
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
    using opened = await openDirectory();
    const handle = await createFileInside(opened, file, 0o644);
    paths.push(`${directory}/${file}`);
    return handle;
  };

  if (hasLog)
    await runInOrder(async () => {
      // Another council of the same session may have started in the same second.
      for (let copy = 1; eventLog === null; copy += 1) {
        stem = copy === 1 ? name : `${name}-${copy}`;
        eventLog = await create(`${stem}.jsonl`).catch((error: NodeJS.ErrnoException) => {
          if (error.code === "EEXIST" && copy < MAX_COPIES) return null;
          throw error;
        });
      }
    });
  return {
    log(event) {
      const line = `${JSON.stringify(event)}\n`;
      void runInOrder(async () => void (await eventLog?.writeFile(line)));
    },
    write: (extension, content) =>
      runInOrder(async () => {
        await using handle = await create(`${stem}.${extension}`);
        await handle.writeFile(content);
      }),
    async close() {
      await runInOrder(async () => void (await eventLog?.close()));
      eventLog = null;
    },
    paths,
    get fault() {
      return fault;
    },
  };
}

/** Formats a time in UTC for a file name: `20261121-193905`. */
export const formatFileTime = (time: Date): string => time.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
