import type { Ending, ProgramTask } from "../program/agent-program.ts";
import { readCallLog } from "./call-log.ts";
import type { SpokenText } from "./spoken-text.ts";

/** Corrects what the program reports as a success by its own log of the calls of the model. */
export async function judgeAnswer({ request }: Pick<ProgramTask, "request">, ending: Ending, spoken: SpokenText): Promise<Ending> {
  if (ending.status !== "ok") return ending;
  const { failure, discardedBefore } = await readCallLog(request.directories.tmp);
  if (failure !== null) return { ...ending, ...failure };
  return discardedBefore === 0 ? ending : { ...ending, output: spoken.since(discardedBefore) };
}
