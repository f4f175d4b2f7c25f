import { kill } from "node:process";

/** Sends a signal to all processes of a group. Does nothing if all of them have ended or belong to other users. */
export function signalGroup(group: number, name: NodeJS.Signals): void {
  try {
    kill(-group, name);
  } catch (error) {
    if (!["ESRCH", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
