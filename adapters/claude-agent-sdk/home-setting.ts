/** The setting that an operator whose login is not found is told of. */
export const homeSetting = "BRIDGE_CLAUDE_AGENT_SDK_HOME";
