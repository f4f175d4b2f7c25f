import type { McpServerSpec } from "#contract";

/** Marks Bridge's own server. The key is a symbol, so it does not appear in a program's configuration. */
const mark: unique symbol = Symbol("serves the declared tools");

/**
 * Marks the server of a task that serves its declared tools. The caller executes these tools, so a task can call them
 * with every profile.
 */
export const markToolServer = (spec: McpServerSpec): McpServerSpec => Object.assign({ ...spec }, { [mark]: true });

/** Returns whether the server serves the declared tools of its task. */
export const isToolServer = (spec: McpServerSpec): boolean => Object.hasOwn(spec, mark);

/** Environment variables that pass the server's URL and secret to the stdio relay. In an argument list, other users could read them. */
export const RELAY_VARIABLES = { url: "BRIDGE_TOOLS_URL", secret: "BRIDGE_TOOLS_SECRET" } as const;
