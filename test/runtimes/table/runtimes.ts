import type { Connection } from "#contract";
import { sdkDirectory } from "../programs.ts";

export type Runtime = "claude" | "claude-agent-sdk" | "codex" | "gemini" | "opencode";
/**
 * The runtimes of the table, and those that only other tests use: OpenClaw, whose gateway a test starts, an ACP agent that an operator
 * configures, and the adapters with which Bridge calls a model itself.
 */
export type BenchRuntime = Runtime | "openclaw" | "any-agent" | "vercel-ai" | "gloo-ai";

/** The properties of a runtime that the table needs. Its adapter defines its behavior. */
export interface RuntimeColumn {
  title: string;
  connections: readonly Connection[];
  /** The program between Bridge and the runtime, whose version is reported, by connection. */
  through?: Partial<Record<Connection, string>>;
  /** The model that dispatches name. */
  model: string;
  /** The environment variables with which an operator would start Bridge for this runtime. */
  environment(modelUrl: string): Record<string, string>;
}

/** The key with which Bridge is started. */
export const KEY = "sk-of-the-runtime-suite";

/** The columns of the table. */
export const runtimes: Record<Runtime, RuntimeColumn> = {
  claude: {
    title: "Claude Code",
    connections: ["acp", "cli"],
    through: { acp: "claude-agent-acp" },
    model: "claude-sonnet-4-5",
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY }),
  },
  "claude-agent-sdk": {
    title: "Claude Agent SDK",
    connections: ["in-process"],
    model: "claude-sonnet-4-5",
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, BRIDGE_CLAUDE_AGENT_SDK_PACKAGE: sdkDirectory() }),
  },
  codex: {
    title: "Codex",
    connections: ["acp", "cli"],
    through: { acp: "codex-acp" },
    model: "gpt-5.1-codex",
    environment: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY }),
  },
  gemini: {
    title: "Gemini CLI",
    connections: ["acp", "cli"],
    model: "gemini-2.5-flash",
    environment: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
  },
  opencode: {
    title: "OpenCode",
    connections: ["http-api", "cli"],
    model: "scripted/model",
    environment: (url) => ({
      BRIDGE_OPENCODE_CONFIG: JSON.stringify({
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: KEY },
            models: { model: { cost: { input: 1, output: 2 }, limit: { context: 100_000, output: 8_000 } } },
          },
        },
      }),
    }),
  },
};

/** All runtimes that a bench can run. */
export const benchRuntimes: Record<BenchRuntime, RuntimeColumn> = {
  ...runtimes,
  openclaw: { title: "OpenClaw", connections: ["http-api"], model: "custom/scripted", environment: () => ({}) },
  "vercel-ai": {
    title: "Vercel AI SDK",
    connections: ["in-process"],
    model: "scripted",
    environment: (url) => ({ BRIDGE_VERCEL_AI_BASE_URL: `${url}/v1`, BRIDGE_VERCEL_AI_API_KEY: KEY }),
  },
  "gloo-ai": {
    title: "Gloo AI",
    connections: ["api"],
    model: "scripted",
    environment: (url) => ({ BRIDGE_GLOO_AI_BASE_URL: `${url}/v1`, GLOO_CLIENT_ID: "client", GLOO_CLIENT_SECRET: KEY }),
  },
  "any-agent": {
    title: "Any ACP agent, here claude-agent-acp",
    connections: ["acp"],
    model: "sonnet",
    environment: (url) => ({
      BRIDGE_ADAPTERS: "acp:any-agent",
      BRIDGE_ACP_AGENTS: JSON.stringify({
        "any-agent": {
          command: ["claude-agent-acp"],
          env: ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"],
          modes: { inspect: "default", modify: "default" },
        },
      }),
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: KEY,
    }),
  },
};
