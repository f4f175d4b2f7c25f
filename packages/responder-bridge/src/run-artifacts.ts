import type { ArtifactStore } from "./artifact-store.ts";
import type { Attempt, PromptInputs } from "./prompts.ts";
import type { Message } from "./provider.ts";

/** Fields of `meta.json` that are known at the start of a run. */
export interface RunFacts {
  provider: string | null;
  model: string | null;
  tool: { name: string | null; version: string | null };
  describeTopic: string;
  describeArguments: readonly string[];
  paramsTopic: string | null;
  paramsArguments: readonly string[];
  maxIterations: number;
  started_at: string;
}

/** Result of a run: valid, invalid or an error. */
export interface RunEnd {
  ok: boolean;
  error: string | null;
}

/** Writes the files of a run after each step, so that they are complete even if the run is interrupted. */
export type RunArtifacts = ReturnType<typeof createRunArtifacts>;

/** Creates the writer for one run. */
export function createRunArtifacts(store: ArtifactStore, facts: RunFacts) {
  let iterations = 0;
  let last: Partial<Attempt> = {};

  // `ok` and `finished_at` are null until the end, and remain null if the program is killed.
  const writeMeta = (end: { ok: boolean | null; error: string | null; finished_at: string | null }) =>
    store.write("meta.json", `${JSON.stringify({ ...facts, iterations, ...end }, null, 2)}\n`);
  const write = async (name: string, text: string): Promise<void> => void (await store.write(name, text));

  return {
    async begin({ describe, params, materials }: PromptInputs): Promise<void> {
      await store.create();
      await write("inputs/describe.md", describe);
      if (params !== null) await write("inputs/params.md", params);
      await write("inputs/materials.txt", materials);
      await writeMeta({ ok: null, error: null, finished_at: null });
    },
    writePrompt: (iteration: number, messages: readonly Message[]): Promise<void> =>
      write(`${directoryOf(iteration)}/prompt.json`, `${JSON.stringify(messages, null, 2)}\n`),
    /** Resolves with the path of the file, which the tool validates. */
    writeDraft(iteration: number, draft: string): Promise<string> {
      iterations = iteration;
      last = { draft };
      return store.write(`${directoryOf(iteration)}/draft.md`, draft);
    },
    writeLog(iteration: number, logText: string): Promise<void> {
      last = { ...last, logText };
      return write(`${directoryOf(iteration)}/validation.log`, logText);
    },
    /** Writes the last draft and its log to `final/`, and a note if the draft is invalid. */
    async end({ ok, error }: RunEnd): Promise<void> {
      if (last.draft !== undefined) await write("final/final.md", last.draft);
      if (last.logText !== undefined) await write("final/validation.log", last.logText);
      if (!ok) await write("final/INVALID.txt", `${error ?? `Not valid after ${iterations} iteration(s).`}\n`);
      await writeMeta({ ok, error, finished_at: new Date().toISOString() });
    },
  };
}

const directoryOf = (iteration: number): string => `iterations/iter-${String(iteration).padStart(2, "0")}`;
