import type { Provider } from "@hak2i/responder-bridge";
import { createOpenAiProvider } from "@hak2i/responder-bridge-openai";
import { createBridgeProvider } from "./bridge-provider.ts";
import type { RunFlags } from "./create-command.ts";

/** Default environment variable of the API key. It may be unset, because models on the same machine need no key. */
const OPENAI_KEY_ENV = "OPENAI_API_KEY";

/** Creates the provider that the flags select. Throws if a required flag or environment variable is missing. */
export function chooseProvider(flags: RunFlags, env: NodeJS.ProcessEnv): Provider {
  const { provider, url, model, keyEnv, retries, timeout, agent, runtime, temperature } = flags;
  if (provider === "bridge" && temperature !== undefined)
    throw new Error("--temperature requires --provider openai: a runtime of Bridge chooses its own temperature.");
  if (provider === "openai") {
    if (model === undefined || model === "") throw new Error("--model is required with --provider openai.");
    if (keyEnv !== OPENAI_KEY_ENV && !env[keyEnv])
      throw new Error(`No API key: set the environment variable ${keyEnv}, which --key-env names.`);
    return createOpenAiProvider({ baseUrl: url, apiKey: env[keyEnv] ?? null, retries, timeoutMs: timeout * 1_000 });
  }
  const address = url ?? env["BRIDGE_URL"];
  if (address === undefined || address === "") throw new Error("--provider bridge needs the address of Bridge: set --url or BRIDGE_URL.");
  const token = env["BRIDGE_TOKEN"];
  if (token === undefined || token === "") throw new Error("No token: set BRIDGE_TOKEN to a token that Bridge accepts.");
  return createBridgeProvider({ url: address, token, agentId: agent, runtime, timeoutSeconds: timeout });
}
