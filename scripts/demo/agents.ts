/** An agent that the demo can run. */
export interface DemoAgent {
  /** The adapter of the agent. */
  provider: string;
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
  task: { message: "Count BRIDGE in *.md" },
  furtherTask: { message: "Count POST in *.md" },
  requirements: "It needs no model and no key.",
  // The demo takes about two seconds; a busy machine may need longer to start a process.
  deadlineMs: 60_000,
};

/** A small, read-only task, because the demo spends the operator's money. */
const greeting = {
  message: "Greet me in one sentence, then list the files of this directory.",
  profile: "inspect",
  timeoutSeconds: 120,
} as const;
const createProgramAgent = (provider: string): DemoAgent => ({
  provider,
  task: greeting,
  furtherTask: greeting,
  requirements: "It calls its model with your key.",
  deadlineMs: 180_000,
});

/** The agents of the demo by provider. */
export const demoAgents: ReadonlyMap<string, DemoAgent> = new Map(
  [example, ...["claude", "codex", "gemini", "opencode"].map(createProgramAgent)].map((agent) => [agent.provider, agent]),
);

/** Returns the operator's settings for this adapter. The demo ignores all other settings in the environment. */
export function selectSettings({ provider }: DemoAgent, environment: NodeJS.ProcessEnv): Record<string, string> {
  const adapterSettings = Object.entries(environment).filter(([name]) => name.startsWith(`BRIDGE_${provider.toUpperCase()}_`));
  return { ...(Object.fromEntries(adapterSettings) as Record<string, string>), BRIDGE_ADAPTERS: provider };
}
