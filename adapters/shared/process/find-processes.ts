import { readFileSync } from "node:fs";
import { type ProcessLabel, readLabel } from "./process-labels.ts";
import { type FoundProcess, hasEnded, listPids, readProc, readProcess } from "./process-table.ts";

/** The environment variable that marks every process of a task and its descendants. */
export const TASK_MARKER = "BRIDGE_TASK_ID";

/**
 * Time after which a pass over the process table pauses until the next turn of the event loop, in milliseconds.
 */
const SLICE_MS = 3;

/** The markers in the environment of a process. */
export interface Marks {
  marker: string | undefined;
  tmp: string | undefined;
  home: string | undefined;
}

/** A process that a search examines. Its properties are read from /proc when they are first needed, once for all searches of a pass. */
export interface Candidate {
  readonly pid: number;
  readonly label: ProcessLabel | null;
  /** Null if its environment has no task marker, or cannot be read. */
  readonly marks: Marks | null;
  /** Null if it has ended. */
  readonly process: FoundProcess | null;
}

interface Search {
  isWanted(candidate: Candidate): boolean;
  found: FoundProcess[];
  resolve(found: FoundProcess[]): void;
  reject(error: unknown): void;
}

let waiting: Search[] = [];
let isPassing = false;

/**
 * Returns the matching processes, from a pass that begins after the call. All searches that wait for a pass share it: many tasks can end
 * at once, each searches twice, and reading the process table takes milliseconds.
 */
export function findProcesses(isWanted: (candidate: Candidate) => boolean): Promise<FoundProcess[]> {
  return new Promise((resolve, reject) => {
    waiting.push({ isWanted, found: [], resolve, reject });
    if (!isPassing) void passUntilNoneWaits();
  });
}

async function passUntilNoneWaits(): Promise<void> {
  isPassing = true;
  // Searches of the same turn share the first pass.
  await undefined;
  while (waiting.length > 0) {
    const searches = waiting;
    waiting = [];
    try {
      await pass(searches);
      for (const { resolve, found } of searches) resolve(found);
    } catch (error) {
      for (const { reject } of searches) reject(error);
    }
  }
  isPassing = false;
}

async function pass(searches: readonly Search[]): Promise<void> {
  let sliceStart = performance.now();
  for (const pid of listPids()) {
    if (performance.now() - sliceStart > SLICE_MS) {
      await new Promise(setImmediate);
      sliceStart = performance.now();
    }
    const candidate = createCandidate(pid);
    for (const search of searches) {
      try {
        examine(search, candidate);
      } catch (error) {
        search.reject(error);
      }
    }
  }
}

function examine({ isWanted, found }: Search, candidate: Candidate): void {
  if (!isWanted(candidate)) return;
  const { process } = candidate;
  // A zombie keeps its limits, and so its label, but has ended.
  if (process !== null && !hasEnded(process)) found.push(process);
}

function createCandidate(pid: number): Candidate {
  let label: ProcessLabel | null | undefined;
  let marks: Marks | null | undefined;
  let process: FoundProcess | null | undefined;
  return {
    pid,
    get label() {
      if (label === undefined) label = readLabel(pid);
      return label;
    },
    get marks() {
      if (marks === undefined) marks = readMarks(pid);
      return marks;
    },
    get process() {
      if (process === undefined) process = readProcess(pid);
      return process;
    },
  };
}

function readMarks(pid: number): Marks | null {
  const environment = readProc(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
  if (environment === null || !environment.includes(TASK_MARKER)) return null;
  const entries = environment.split("\0");
  const read = (name: string) => entries.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1);
  return { marker: read(TASK_MARKER), tmp: read("TMPDIR"), home: read("HOME") };
}
