import type { Profile } from "./execution.ts";

/** The name of a dispatch field that carries the input of an adapter. */
export type InputField = `${string}Input`;

/** A field of a dispatch that carries an adapter's own input: a JSON object beside the message, or instead of it. */
export interface AdapterInput {
  field: InputField;
  /** Another accepted name of the field. The OpenAPI description omits it. */
  alias?: string;
  /** For the OpenAPI description. */
  description: string;
  /** The profile of a dispatch with this input, if the dispatch sets none. Absent: BRIDGE_DEFAULT_PROFILE. */
  defaultProfile?: Profile;
}

/** The inputs of adapters, by field. */
export type AdapterInputs = { [field in InputField]?: Record<string, unknown> };

/** The names of the input fields that an object sets, sorted. */
export const inputFieldsOf = (request: AdapterInputs): InputField[] =>
  Object.keys(request)
    .filter((name): name is InputField => name.endsWith("Input") && request[name as InputField] !== undefined)
    .toSorted();
