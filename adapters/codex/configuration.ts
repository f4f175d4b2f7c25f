import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { programEnvironment } from "../shared/agent-program/program-environment.ts";
import { mcpServersOf, secretPrefix } from "./mcp-servers.ts";

/** The name under which Codex knows the provider that the environment describes. */
export const providerId = "bridge";

const keyNames = ["CODEX_API_KEY", "OPENAI_API_KEY"] as const;

/** What holds in every task, over every connection. The task's sandbox is the answer to all that Codex could ask. */
export const fixedConfiguration = {
  approval_policy: "never",
  // A model as reviewer could let commands out of the sandbox.
  approvals_reviewer: "user",
  analytics: { enabled: false },
  check_for_update_on_startup: false,
  // Nothing from outside of the dispatch: no plugins, no connectors of an account, no hooks.
  features: { plugins: false, apps: false, hooks: false },
  // Nor of a repository in which the workspace may lie, such as the operator's: its instructions are for others.
  project_root_markers: [],
  // AGENTS.md of the workspace is in the prompt that Bridge assembles: read by Codex as well, it would reach the model twice.
  project_doc_max_bytes: 0,
  // A task has a temporary directory of its own; /tmp is everybody's, and a sandbox that is stopped leaves directories such as /tmp/.git behind.
  sandbox_workspace_write: { exclude_slash_tmp: true },
  // Secrets are for Codex, and not for the commands that a model thinks of.
  shell_environment_policy: { exclude: [...keyNames, "CODEX_CONFIG", `${secretPrefix}*`] },
} as const;

/** What differs from task to task. */
export function taskConfiguration(request: ExecutionRequest, context: ProgramContext): Record<string, unknown> {
  const { model, reasoningLevel } = request;
  const { config: servers } = mcpServersOf(request);
  return {
    ...providerConfiguration(context),
    ...(model !== undefined && { model }),
    ...(reasoningLevel !== undefined && { model_reasoning_effort: reasoningLevel }),
    ...(Object.keys(servers).length > 0 && { mcp_servers: servers }),
  };
}

/** The name of the variable with the API key; undefined without one. */
export const apiKeyName = ({ env }: Pick<ProgramContext, "env">): string | undefined => keyNames.find((name) => env[name] !== undefined);

/** With a key or an endpoint of its own Codex asks that; else it is left to its login. */
function providerConfiguration(context: ProgramContext): Record<string, unknown> {
  const keyName = apiKeyName(context);
  const baseUrl = context.env["OPENAI_BASE_URL"];
  if (keyName === undefined && baseUrl === undefined) return {};
  const provider = {
    name: "OpenAI API",
    base_url: baseUrl ?? "https://api.openai.com/v1",
    wire_api: "responses",
    ...(keyName !== undefined && { env_key: keyName }),
    env_http_headers: { "OpenAI-Organization": "OPENAI_ORGANIZATION", "OpenAI-Project": "OPENAI_PROJECT" },
    // Both counts multiply; with the usual ones a refusal takes long to be told.
    request_max_retries: 1,
    stream_max_retries: 2,
  };
  return { model_provider: providerId, model_providers: { [providerId]: provider } };
}

const names = [...keyNames, "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_CA_CERTIFICATE"];

/** The environment of Codex, the same over every connection. */
export function codexEnvironment(context: ProgramContext, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  // Only in the operator's own home; an agent's home is its own.
  const home = context.settings.home === "user" ? ["CODEX_HOME"] : [];
  return programEnvironment(context, [...names, ...home], own);
}
