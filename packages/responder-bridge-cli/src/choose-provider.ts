import type { Provider } from "@hak2i/responder-bridge";
import { createOpenAiProvider } from "@hak2i/responder-bridge-openai";
import { createBridgeProvider } from "./bridge-provider.ts";
import type { RunFlags } from "./create-command.ts";

/** Where a key stands unless another place is named. It may be absent: models on one's own machine need none. */
const OPENAI_KEY = "OPENAI_API_KEY";

/** The provider that the flags name. */
export function chooseProvider(flags: RunFlags, env: NodeJS.ProcessEnv): Provider {
  const { provider, url, model, keyEnv, retries, timeout, agent, runtime } = flags;
  if (provider === "openai") {
    if (model === undefined || model === "") throw new Error("--model is needed with the provider openai.");
    if (keyEnv !== OPENAI_KEY && !env[keyEnv]) throw new Error(`There is no key: set ${keyEnv}, which --key-env names.`);
    return createOpenAiProvider({ baseUrl: url, apiKey: env[keyEnv] ?? null, retries, timeoutMs: timeout * 1_000 });
  }
  const address = url ?? env["BRIDGE_URL"];
  if (address === undefined || address === "") throw new Error("--url is needed with the provider bridge: where is Bridge?");
  const token = env["BRIDGE_TOKEN"];
  if (token === undefined || token === "") throw new Error("There is no token: set BRIDGE_TOKEN to one of Bridge's.");
  return createBridgeProvider({ url: address, token, agentId: agent, runtime, timeoutSeconds: timeout });
}
