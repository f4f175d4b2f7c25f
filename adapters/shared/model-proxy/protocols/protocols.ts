import type { Protocol } from "../protocol.ts";
import type { WireProtocol } from "../proxy-plan.ts";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai } from "./openai.ts";

/** The protocols by their names. */
export const protocols: Readonly<Record<WireProtocol, Protocol>> = { anthropic, openai, gemini };
