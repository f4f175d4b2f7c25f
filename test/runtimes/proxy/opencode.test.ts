import { playCells } from "../table/play-cells.ts";

playCells("opencode", { proxy: true });
