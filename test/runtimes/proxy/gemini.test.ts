import { playCells } from "../table/play-cells.ts";

playCells("gemini", { proxy: true });
