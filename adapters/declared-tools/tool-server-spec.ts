import type { McpServerSpec } from "#contract";

/** Tells Bridge's own server from the dispatch's. A symbol: no program gets to see it in its configuration. */
const mark: unique symbol = Symbol("serves the declared tools");

/** Marks the server of a task that serves its declared tools. Only whoever dispatched works these, so a task may call them under every profile. */
export const markToolServer = (spec: McpServerSpec): McpServerSpec => Object.assign({ ...spec }, { [mark]: true });

/** Does the server serve the declared tools of its task? */
export const isToolServer = (spec: McpServerSpec): boolean => Object.hasOwn(spec, mark);
