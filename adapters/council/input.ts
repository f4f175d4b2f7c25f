import type { AdapterInput } from "#contract";

/** The question to a council. `readInput` of the package bridge-council validates it. */
export const councilInput: AdapterInput = {
  field: "bridgeInput",
  alias: "bridge_input",
  description: "Input of a council: scope, task_description, task_type, domains and more, as docs/council.md describes.",
};
