import type { ExecutionAdapter } from "#contract";
import { createCouncilAdapter } from "./create-council-adapter.ts";
import { deepCouncil } from "./deep-council.ts";
import { bridgeCouncil } from "./panel-council.ts";

/** A council of the roles of one runtime. */
export const createBridgeAdapter = (runtime: string): ExecutionAdapter => createCouncilAdapter(bridgeCouncil(runtime));

/** A council over several runtimes. */
export const createDeepCouncilAdapter = (): ExecutionAdapter => createCouncilAdapter(deepCouncil);
