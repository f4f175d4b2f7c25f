import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects all garbage of this process, so that a measurement of memory or CPU time does not include earlier garbage. */
export const collectGarbage = exposeGc();

function exposeGc(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
