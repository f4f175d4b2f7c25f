import { playCells } from "../table/play-cells.ts";

playCells("claude-agent-sdk", { proxy: true });
