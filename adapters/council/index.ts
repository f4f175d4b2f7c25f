import type { ExecutionAdapter } from "#contract";
import { createCouncilAdapter } from "./create-council-adapter.ts";
import { deepCouncil } from "./deep-council.ts";
import { createPanelCouncil } from "./panel-council.ts";

/** Creates the adapter for the panel of one runtime; its provider is `bridge-<runtime>`. */
export const createPanelAdapter = (runtime: string): ExecutionAdapter => createCouncilAdapter(createPanelCouncil(runtime));

/** Creates the adapter for a council over several runtimes. */
export const createDeepCouncilAdapter = (): ExecutionAdapter => createCouncilAdapter(deepCouncil);
