import type { Value } from "./connection.ts";

/** The rows as one array for each column, for `unnest`. */
export const toColumns = <Name extends string>(
  names: readonly Name[],
  rows: readonly Readonly<Record<Name, string | number | null>>[],
): Value[] => names.map((name) => rows.map((row) => row[name]));
