import type { AdapterInputs, InputField, Profile } from "./execution.ts";

/** A field of a dispatch that carries an adapter's own input: a JSON object that accompanies or replaces the message. */
export interface AdapterInput {
  field: InputField;
  /** An alternative name of the field. The OpenAPI description omits it. */
  alias?: string;
  /** For the OpenAPI description. */
  description: string;
  /** The profile of a dispatch with this input, if the dispatch sets none. Absent: BRIDGE_DEFAULT_PROFILE. */
  defaultProfile?: Profile;
}

/** Lists the names of the input fields that an object sets, sorted. */
export const inputFieldsOf = (request: AdapterInputs): InputField[] =>
  Object.keys(request)
    .filter((name): name is InputField => name.endsWith("Input") && request[name as InputField] !== undefined)
    .toSorted();
