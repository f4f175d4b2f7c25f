import { type Column, printTable } from "bridge-cli";
import { listAllSettings } from "../../app/load-config.ts";
import { listSettingValues, type SettingValue } from "../../config/list-setting-values.ts";
import { createLocalVerb } from "../run-local.ts";

interface Row extends SettingValue {
  source: string;
}

const columns: readonly Column<Row>[] = [
  { title: "setting", value: ({ name }) => name, style: ({ variable }) => (variable === null ? "dim" : null) },
  { title: "value", value: ({ value }) => value, shown: ({ value, fallback }) => value ?? fallback ?? "-", isFlexible: true },
  { title: "default", value: ({ fallback }) => fallback, isFlexible: true },
  { title: "source", value: ({ source }) => source },
];

/** Lists the settings of this directory with their values and sources. */
export const run = createLocalVerb<{ set?: boolean }>(async ({ options, output, environment: { variables, fromFile } }) => {
  const rows = listSettingValues(variables, listAllSettings()).map((setting): Row => {
    const { variable } = setting;
    const source = variable === null ? "default" : fromFile.has(variable) ? ".env" : "environment";
    return { ...setting, source };
  });
  printTable(output, options.set === true ? rows.filter(({ variable }) => variable !== null) : rows, columns);
  return undefined;
});
