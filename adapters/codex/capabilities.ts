import type { GatewayCapabilities } from "#contract";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";

/** What Codex can do over ACP. Its sandbox holds commands and edits to the profile; it tells no cost. */
export const capabilities: GatewayCapabilities = { ...programCapabilities, costTracking: false, approvals: false };

/** Over `cli` each message comes as a whole. */
export const cliCapabilities: GatewayCapabilities = { ...capabilities, streaming: false };
