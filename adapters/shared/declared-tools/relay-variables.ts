/** Environment variables that pass the server's URL and secret to the relay. Other users could read them in an argument list. */
export const relayVariables = { url: "BRIDGE_TOOLS_URL", secret: "BRIDGE_TOOLS_SECRET" } as const;
