import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { createProgramEnvironment } from "../shared/agent-program/program-environment.ts";
import { configureMcpServers, SECRET_PREFIX } from "./mcp-servers.ts";

/** Name of the model provider in Bridge's configuration of Codex. */
export const providerId = "bridge";

/** Makes Codex print to stderr which MCP servers did not start. Its other log lines stay at their default, errors. */
const LOG_LEVEL = { name: "RUST_LOG", value: "error,codex_mcp=warn" } as const;

/** Variables that hold the API key. The first one that is set counts. */
export const KEY_NAMES = ["CODEX_API_KEY", "OPENAI_API_KEY"] as const;

/** Configuration of every task, over every connection. Codex never asks for approval; its sandbox enforces the profile. */
export const fixedConfiguration = {
  approval_policy: "never",
  // A model as reviewer could allow commands outside the sandbox.
  approvals_reviewer: "user",
  analytics: { enabled: false },
  check_for_update_on_startup: false,
  // A task uses only what its dispatch names, so plugins, account connectors and hooks are off.
  features: { plugins: false, apps: false, hooks: false },
  // Instructions of a repository that contains the workspace do not apply to the task.
  project_root_markers: [],
  // Bridge includes AGENTS.md of the workspace in the prompt. If Codex read it too, the model would get it twice.
  project_doc_max_bytes: 0,
  // Each task has its own temporary directory. /tmp is shared, and a stopped sandbox leaves directories such as /tmp/.git there.
  sandbox_workspace_write: { exclude_slash_tmp: true },
  // Codex needs these secrets, but the commands of the model must not see them.
  shell_environment_policy: { exclude: [...KEY_NAMES, "CODEX_CONFIG", LOG_LEVEL.name, `${SECRET_PREFIX}*`] },
} as const;

/** Builds the configuration that depends on the task. */
export function createTaskConfiguration(request: ExecutionRequest, context: ProgramContext): Record<string, unknown> {
  const { model, reasoningLevel } = request;
  const { config: servers } = configureMcpServers(request);
  return {
    ...createProviderConfiguration(context),
    ...(model !== undefined && { model }),
    ...(reasoningLevel !== undefined && { model_reasoning_effort: reasoningLevel }),
    ...(Object.keys(servers).length > 0 && { mcp_servers: servers }),
  };
}

/** Returns the name of the variable that holds the API key; undefined if none is set. */
export const apiKeyName = ({ env }: Pick<ProgramContext, "env">): string | undefined => KEY_NAMES.find((name) => env[name] !== undefined);

/** Configures the API as a provider if the environment has a key or a base URL; otherwise Codex uses its login. */
function createProviderConfiguration(context: ProgramContext): Record<string, unknown> {
  const keyName = apiKeyName(context);
  const baseUrl = context.env["OPENAI_BASE_URL"];
  if (keyName === undefined && baseUrl === undefined) return {};
  const provider = {
    name: "OpenAI API",
    base_url: baseUrl ?? "https://api.openai.com/v1",
    wire_api: "responses",
    ...(keyName !== undefined && { env_key: keyName }),
    env_http_headers: { "OpenAI-Organization": "OPENAI_ORGANIZATION", "OpenAI-Project": "OPENAI_PROJECT" },
    // Codex multiplies the two counts. With the defaults, it takes long to report a rejected request.
    request_max_retries: 1,
    stream_max_retries: 2,
  };
  return { model_provider: providerId, model_providers: { [providerId]: provider } };
}

const VARIABLES = [...KEY_NAMES, "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_CA_CERTIFICATE"];

/** Builds the environment of Codex, which is the same over every connection. */
export function createCodexEnvironment(context: ProgramContext, own: Readonly<Record<string, string>> = {}): Record<string, string> {
  // The operator's CODEX_HOME applies only if tasks use the operator's home directory.
  const home = context.settings.home === "user" ? ["CODEX_HOME"] : [];
  return createProgramEnvironment(context, [...VARIABLES, ...home], { [LOG_LEVEL.name]: LOG_LEVEL.value, ...own });
}
