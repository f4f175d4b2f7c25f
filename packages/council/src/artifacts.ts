import { constants } from "node:fs";
import { appendFile, lstat, mkdir, open, realpath } from "node:fs/promises";
import path from "node:path";

/** Where a council leaves its traces, relative to the workspace. */
export const BRIDGE_OUTPUTS = ".outputs/bridges";
export const COUNCIL_OUTPUTS = ".outputs/council";

/** The files of one council. */
export interface Artifacts {
  /** Writes one line of the event log, in the order of the calls; a disk that is full loses lines and stops nobody. */
  log(event: Record<string, unknown>): void;
  /** Writes a file beside the log, under the same name with another ending. */
  write(ending: "md" | "json", content: string): Promise<void>;
  /** Resolves when everything is written. */
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
  const parent = await openDirectory(workspace, directory).catch((error: Error) => {
    fault = `Nothing can be written to ${directory}: ${error.message}`;
    return null;
  });

  const inOrder = (work: (parent: string) => Promise<void>): Promise<void> => {
    writing = writing.then(async () => {
      if (parent === null) return;
      try {
        await work(parent);
      } catch (error) {
        fault ??= `Not everything could be written to ${directory}: ${(error as NodeJS.ErrnoException).code ?? "failure"}`;
      }
    });
    return writing;
  };
  const create = async (file: string, content: string): Promise<void> => {
    const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
  };
  const begin = async (ending: string, content: string): Promise<void> => {
    await inOrder(async (at) => {
      await create(path.join(at, `${name}.${ending}`), content);
      paths.push(`${directory}/${name}.${ending}`);
    });
  };

  if (hasLog) await begin("jsonl", "");
  return {
    log(event) {
      const line = `${JSON.stringify(event)}\n`;
      void inOrder((at) =>
        appendFile(path.join(at, `${name}.jsonl`), line, { flag: constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW }),
      );
    },
    write: (ending, content) => begin(ending, content),
    close: () => writing,
    paths,
    get fault() {
      return fault;
    },
  };
}

/** Makes the directory, step by step; one that is a link, or no directory, is refused. */
async function openDirectory(workspace: string, directory: string): Promise<string> {
  let at = await realpath(workspace);
  for (const part of directory.split("/")) {
    at = path.join(at, part);
    await mkdir(at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw new Error(error.code);
    });
    if (!(await lstat(at)).isDirectory()) throw new Error(`${part} is no directory`);
  }
  return at;
}

/** `20261121-193905`, in UTC: part of a file name. */
export const fileTime = (time: Date): string => time.toISOString().replaceAll(/[-:]/g, "").replace("T", "-").slice(0, 15);
