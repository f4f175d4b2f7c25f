import { CommandError } from "../command-error.ts";
import { readVersion } from "../read-version.ts";
import { printRecord } from "../record.ts";
import type { Run } from "../verb.ts";

/** Prints the version of this program, and that of Bridge if it can be reached. */
export const run: Run<object> = async ({ output, signal, connect }) => {
  const bridge = readVersion();
  let server: string | null = null;
  try {
    server = (await connect().client.getServiceInfo({ signal })).version;
  } catch (error) {
    if (signal.aborted || (error instanceof CommandError && error.kind === "usage")) throw error;
    output.note(`The version of Bridge is unknown: ${error instanceof Error ? error.message : String(error)}`);
  }
  printRecord(output, { bridge, server }, [
    { name: "bridge", value: bridge },
    { name: "server", value: server },
  ]);
  return undefined;
};
