import { CommandError, paint, printRecord } from "bridge-cli";
import { checkConfig } from "../../app/check-config.ts";
import { createLocalVerb } from "../run-local.ts";

/** Checks the settings and the files that they name, without starting anything. */
export const run = createLocalVerb<object>(async ({ output, environment: { variables } }) => {
  const { faults, warnings } = await checkConfig(variables);
  for (const warning of warnings) output.warn([paint("yellow", "warning:"), ` ${warning}`]);
  if (faults.length > 0)
    throw new CommandError("usage", `The configuration is not valid:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
  printRecord(output, { result: "ok", warnings }, [{ name: "result", value: "ok" }]);
  output.note("Not checked: the database (brg db check), and the agent programs (brg doctor, once Bridge runs).");
  return undefined;
});
