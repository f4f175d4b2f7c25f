import { playCells } from "../table/play-cells.ts";

playCells("claude", { proxy: true });
