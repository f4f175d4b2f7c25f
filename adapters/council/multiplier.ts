/** How much slower a runtime is than others; whoever is not named is not. */
const multipliers: Readonly<Record<string, number>> = { opencode: 1.5 };

/** The share of a runtime in the time that an answer may take. */
export const multiplierOf = (provider: string): number => multipliers[provider] ?? 1;
