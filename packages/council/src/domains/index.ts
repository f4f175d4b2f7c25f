import { business } from "./business.ts";
import { creative } from "./creative.ts";
import type { Domain } from "./domain.ts";
import { technical } from "./technical.ts";

/** All domains for which the council has an expert. */
export const domains: readonly Domain[] = [...technical, ...business, ...creative];
