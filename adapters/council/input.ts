import type { AdapterInput } from "#contract";

/** The question to a council. `readInput` of the package bridge-council validates it. */
export const councilInput: AdapterInput = {
  field: "bridgeInput",
  alias: "bridge_input",
  description: "Input of a council: scope, task_description, task_type, domains and more, as docs/council.md describes.",
  // The type of work determines whether the roles may change files. An explicit `inspect` in the dispatch forbids it.
  defaultProfile: "modify",
};
