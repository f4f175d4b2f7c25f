/** An agent that the demo can show. */
export interface DemoAgent {
  /** The adapter that drives it. */
  provider: string;
  /** What it is asked, in the words of a dispatch. */
  task: { message: string; profile?: "inspect"; timeoutSeconds?: number };
  /** What it is asked when the demo stays open. */
  furtherTask: DemoAgent["task"];
  /** What it needs, for whoever watches. */
  needs: string;
  /** After this the demo is taken to be stuck. */
  deadlineMs: number;
}

const example: DemoAgent = {
  provider: "command",
  task: { message: "Count BRIDGE in *.md" },
  furtherTask: { message: "Count POST in *.md" },
  needs: "It needs no model and no key.",
  // A healthy demo takes about two seconds; a busy machine may need a while longer to start a process.
  deadlineMs: 60_000,
};

/** Small, and it may change nothing: the demo spends the operator's money. */
const greeting = {
  message: "Say hello in one sentence, then list the files of this directory.",
  profile: "inspect",
  timeoutSeconds: 120,
} as const;
const real = (provider: string): DemoAgent => ({
  provider,
  task: greeting,
  furtherTask: greeting,
  needs: "It asks its model with your key.",
  deadlineMs: 180_000,
});

/** The agents of the demo, by provider; the first is the one that it shows when nobody asks for another. */
export const demoAgents: ReadonlyMap<string, DemoAgent> = new Map(
  [example, ...["claude", "codex", "gemini", "opencode"].map(real)].map((agent) => [agent.provider, agent]),
);

/** What the operator has set for this adapter; a demo takes no other setting of the surroundings. */
export function settingsFor({ provider }: DemoAgent, environment: NodeJS.ProcessEnv): Record<string, string> {
  const own = Object.entries(environment).filter(([name]) => name.startsWith(`BRIDGE_${provider.toUpperCase()}_`));
  return { ...(Object.fromEntries(own) as Record<string, string>), BRIDGE_ADAPTERS: provider };
}
