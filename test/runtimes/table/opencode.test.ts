import { playCells } from "./play-cells.ts";

playCells("opencode");
