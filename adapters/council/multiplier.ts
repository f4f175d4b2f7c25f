/** How much slower a runtime is than others; whoever is not named is not. */
const multipliers: ReadonlyMap<string, number> = new Map([["opencode", 1.5]]);

/** The share of a runtime in the time that an answer may take. */
export const multiplierOf = (provider: string): number => multipliers.get(provider) ?? 1;
