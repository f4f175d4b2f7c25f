import { CommandError, paint, printRecord } from "bridge-cli";
import { checkConfig } from "../../app/check-config.ts";
import { createLocalVerb } from "../run-local.ts";

/** Checks the settings and the files that they name, without starting anything. */
export const run = createLocalVerb<object>(async ({ output, environment: { variables } }) => {
  const { faults, warnings, callbackRetries } = await checkConfig(variables);
  for (const warning of warnings) output.warn([paint("yellow", "warning:"), ` ${warning}`]);
  if (faults.length > 0)
    throw new CommandError("usage", `The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
  printRecord(output, { result: "ok", warnings, callbackRetries }, [{ name: "result", value: "ok" }]);
  if (callbackRetries !== null) output.note(describeRetries(callbackRetries));
  output.note("Not checked: the database (brg db check), and the agent programs (brg doctor, once Bridge runs).");
  return undefined;
});

/** Below this time, the restart of a receiver can lose callbacks. */
const SHORT_SECONDS = 3600;

function describeRetries({ retries, seconds }: { retries: number; seconds: number }): string {
  const span = seconds < SHORT_SECONDS ? `${seconds} s` : `${Math.round(seconds / 3600)} h`;
  const advice = seconds < SHORT_SECONDS ? " For production, set BRIDGE_CALLBACK_RETRIES=three-days." : "";
  return `A callback is retried ${retries} time(s), over ${span}.${advice}`;
}
