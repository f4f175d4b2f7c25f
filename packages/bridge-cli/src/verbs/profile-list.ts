import { readProfiles } from "../profiles.ts";
import { type Column, printTable } from "../table.ts";
import type { Run } from "../verb.ts";

interface Row {
  name: string;
  isCurrent: boolean;
  url: string;
  tokenFile: string | null;
  tokenCommand: string | null;
}

/** Lists the profiles, without their tokens. */
export const run: Run<object> = async ({ output, env }) => {
  const { current, profiles } = readProfiles(env);
  const rows = Object.entries(profiles).map(([name, { url, tokenFile = null, tokenCommand = null }]) => ({
    ...{ name, isCurrent: name === current, url, tokenFile, tokenCommand },
  }));
  printTable(output, rows, columns);
  return undefined;
};

const columns: Column<Row>[] = [
  { title: "name", value: ({ name }) => name },
  { title: "current", value: ({ isCurrent }) => (isCurrent ? "yes" : "no"), style: ({ isCurrent }) => (isCurrent ? "green" : "dim") },
  { title: "url", value: ({ url }) => url },
  { title: "token", value: ({ tokenFile, tokenCommand }) => tokenFile ?? tokenCommand, isFlexible: true },
];
