import type { Ending, ProgramTask } from "../shared/agent-program/agent-program.ts";
import type { SpokenText } from "./answer-text.ts";
import { readCallLog } from "./telemetry-log.ts";

/** Corrects a success that the program reports, based on its own log of model calls. */
export async function judgeAnswer({ request }: Pick<ProgramTask, "request">, ending: Ending, spoken: SpokenText): Promise<Ending> {
  if (ending.status !== "ok") return ending;
  const { failure, discardedBefore } = await readCallLog(request.directories.tmp);
  if (failure !== null) return { ...ending, ...failure };
  const output = spoken.since(discardedBefore);
  // A retry of another call, such as a check after the answer, discards no text of the answer.
  return discardedBefore === 0 || output === "" ? ending : { ...ending, output };
}
