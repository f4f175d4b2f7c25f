import path from "node:path";
import { createArtifactStore, createResponderBridge } from "@hak2i/responder-bridge";
import { chooseProvider } from "./choose-provider.ts";
import { chooseTool } from "./choose-tool.ts";
import type { RunFlags } from "./create-command.ts";

/** Where a call takes place. */
export interface RunContext {
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Makes one document and tells how it goes; answers whether it is valid. */
export async function run(flags: RunFlags, { env, signal }: RunContext): Promise<boolean> {
  const { model, materials, out, maxIter } = flags;
  if (out === "") throw new Error("--out is empty: where is the document to go?");
  const { tool, describe, params } = chooseTool(flags, env);
  const responder = createResponderBridge({ provider: chooseProvider(flags, env), tool, artifacts: createArtifactStore(out) });
  const { ok, iterations } = await responder.run(
    { model, describe, params, materials, maxIterations: maxIter },
    {
      signal,
      onIteration: (one) => console.error(`iteration ${one.iteration} of ${one.maxIterations}: ${one.ok ? "valid" : "not valid"}`),
    },
  );
  const document = path.join(out, "final", "final.md");
  if (ok) console.log(document);
  else console.error(`rb: not valid after ${iterations} iteration(s); the last draft is ${document}, and its log is beside it`);
  return ok;
}
