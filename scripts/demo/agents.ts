import { findProgram } from "../../adapters/shared/process/find-program.ts";

/** An agent that the demo can run. */
export interface DemoAgent {
  /** The adapter of the agent. */
  provider: string;
  /** The name of its runtime, for people. */
  name: string;
  /** Fields of the dispatch. */
  task: { message: string; profile?: "inspect"; timeoutSeconds?: number };
  /** Fields of the dispatch that `--keep` suggests. */
  furtherTask: DemoAgent["task"];
  /** Its requirements, as a sentence for the screen. */
  requirements: string;
  /** The demo fails if it takes longer. */
  deadlineMs: number;
}

const example: DemoAgent = {
  provider: "command",
  name: "the example agent",
  task: { message: "Count BRIDGE in *.md" },
  furtherTask: { message: "Count POST in *.md" },
  requirements: "It needs no model and no key.",
  // The demo takes about two seconds; a busy machine may need longer to start a process.
  deadlineMs: 60_000,
};

/** A small, read-only task, because the demo spends the operator's money. */
const question = {
  message: "Read docs/states.md and explain in two sentences which states a task can have.",
  profile: "inspect",
  timeoutSeconds: 120,
} as const;
const createProgramAgent = ({ provider, name }: AgentProgram): DemoAgent => ({
  provider,
  name,
  task: question,
  furtherTask: question,
  requirements: "It calls its model with your key.",
  deadlineMs: 180_000,
});

/** An agent program that its adapter starts. Its adapter and its executable have the same name. */
interface AgentProgram {
  provider: string;
  name: string;
  /** Its npm package. */
  package: string;
}

const agentPrograms: readonly AgentProgram[] = [
  { provider: "claude", name: "Claude Code", package: "@anthropic-ai/claude-code" },
  { provider: "codex", name: "Codex", package: "@openai/codex" },
  { provider: "gemini", name: "Gemini CLI", package: "@google/gemini-cli" },
  { provider: "opencode", name: "OpenCode", package: "opencode-ai" },
];

/** The agents of the demo by provider. */
export const demoAgents: ReadonlyMap<string, DemoAgent> = new Map(
  [example, ...agentPrograms.map(createProgramAgent)].map((agent) => [agent.provider, agent]),
);

/** Returns the first agent program that is installed on PATH, or null. */
export function findInstalledAgent({ PATH = "" }: NodeJS.ProcessEnv): DemoAgent | null {
  const found = agentPrograms.find(({ provider }) => findProgram(provider, PATH) !== null);
  return found === undefined ? null : (demoAgents.get(found.provider) ?? null);
}

/** Returns one line for each agent program: the command that installs it. */
export const listInstallCommands = (): string[] =>
  agentPrograms.map(({ name, ...program }) => `npm install -g ${program.package.padEnd(25)}  # ${name}`);

/** Returns the operator's settings for this adapter. The demo ignores all other settings in the environment. */
export function selectSettings({ provider }: DemoAgent, environment: NodeJS.ProcessEnv): Record<string, string> {
  const adapterSettings = Object.entries(environment).filter(([name]) => name.startsWith(`BRIDGE_${provider.toUpperCase()}_`));
  return { ...(Object.fromEntries(adapterSettings) as Record<string, string>), BRIDGE_ADAPTERS: provider };
}
