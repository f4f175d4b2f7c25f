import { playCells } from "./play-cells.ts";

playCells("claude-agent-sdk");
