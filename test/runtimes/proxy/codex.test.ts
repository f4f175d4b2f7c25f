import { playCells } from "../table/play-cells.ts";

playCells("codex", { proxy: true });
