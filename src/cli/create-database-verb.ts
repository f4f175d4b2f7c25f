import { findDatabaseCommand } from "../app/database-commands.ts";
import { createLocalVerb } from "./run-local.ts";

/** Creates the command of `bridge` for a command of `node src/main.ts`. */
export const createDatabaseVerb = (name: string) =>
  createLocalVerb<object>(async ({ output, environment }) => {
    const result = await findDatabaseCommand(name.split(" "))?.(environment.variables);
    if (output.format === "json") output.printJson({ result });
    else output.print(String(result));
    return undefined;
  });
