import path from "node:path";
import { createArtifactStore, createResponderBridge } from "@hak2i/responder-bridge";
import { chooseProvider } from "./choose-provider.ts";
import { chooseTool } from "./choose-tool.ts";
import type { RunFlags } from "./create-command.ts";

/** Environment of one call of `rb`. */
export interface RunContext {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Writes one document, prints progress to stderr and the path of a valid document to stdout, and returns whether it is valid. */
export async function run(flags: RunFlags, { env, signal }: RunContext): Promise<boolean> {
  const { materials, out, maxIter } = flags;
  if (out === "") throw new Error("--out must name a directory.");
  const { tool, describe, params } = chooseTool(flags, env);
  const provider = chooseProvider(flags, env);
  const model = [provider.name, flags.url, flags.model].filter((part) => part !== undefined).join(" ");
  const responder = createResponderBridge({ provider, tool, artifacts: createArtifactStore(out) });
  const { ok, iterations } = await responder.run(
    { model: flags.model, temperature: flags.temperature, describe, params, materials, maxIterations: maxIter },
    {
      signal,
      onRequest: ({ iteration, maxIterations }) => console.error(`iteration ${iteration} of ${maxIterations}: waiting for ${model}`),
      onIteration: (one) => console.error(`iteration ${one.iteration} of ${one.maxIterations}: ${one.ok ? "valid" : "not valid"}`),
    },
  );
  const document = path.join(out, "final", "final.md");
  if (ok) console.log(document);
  else console.error(`rb: not valid after ${iterations} iteration(s); the last draft is ${document}, and its log is in the same directory`);
  return ok;
}
