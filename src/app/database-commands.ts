import { readDatabase } from "../config/config.ts";
import { StartError } from "../errors.ts";

/** A command of `node src/main.ts` that works on the database of the settings and exits. Resolves with what it prints. */
export type DatabaseCommand = (environment: Readonly<Record<string, string | undefined>>) => Promise<string>;

const commands: Readonly<Record<string, (url: string) => Promise<string>>> = {
  async migrate(url) {
    const { migrateDatabase } = await import("../store/engines/postgres/prepare-database.ts");
    return `The database has schema version ${await migrateDatabase(url)}.`;
  },
  async "epoch renew"(url) {
    const { renewEpoch } = await import("../store/events/postgres-epoch.ts");
    return `The event ids of the database have the new epoch ${await renewEpoch(url)}.`;
  },
};

/** Finds the command that the arguments of the program name; null without arguments, which start Bridge. Throws StartError. */
export function findDatabaseCommand(programArguments: readonly string[]): DatabaseCommand | null {
  if (programArguments.length === 0) return null;
  const name = programArguments.join(" ");
  const run = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (run === undefined) {
    throw new StartError(
      `Unknown command: ${name}. Without a command, Bridge starts. This program knows only: ${Object.keys(commands).join(", ")}. ` +
        "npx brg --help lists all other commands. Settings are environment variables or lines of .env.",
    );
  }
  return async (environment) => {
    const { databaseUrl } = readDatabase(environment);
    if (databaseUrl !== null) return run(databaseUrl);
    throw new StartError("This command needs PostgreSQL: set BRIDGE_DATABASE_URL. Bridge upgrades a SQLite database when it starts.");
  };
}
