/** The variables by which the relay learns where Bridge's server is, and the secret. An argument list would show them to other users. */
export const relayVariables = { url: "BRIDGE_TOOLS_URL", secret: "BRIDGE_TOOLS_SECRET" } as const;
