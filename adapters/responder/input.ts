import { z } from "zod";
import type { AdapterInput, InputFault } from "#contract";

const TEXT_FAULT = "must be a text of 1 to 1000 characters";
const PATH_FAULT = "must be a path of 1 to 4096 characters";
const PATHS_FAULT = "must be an array of at most 100 paths";
const ITERATIONS_FAULT = "must be a whole number from 1 to 20";
const textSchema = z.string(TEXT_FAULT).trim().min(1, TEXT_FAULT).max(1_000, TEXT_FAULT);
const pathSchema = z.string(PATH_FAULT).min(1, PATH_FAULT).max(4_096, PATH_FAULT);

const schema = z.strictObject(
  {
    tool: textSchema,
    describe: textSchema,
    params: textSchema.optional(),
    materials: z.array(pathSchema, PATHS_FAULT).max(100, PATHS_FAULT).default([]),
    model: textSchema.optional(),
    maxIterations: z.int(ITERATIONS_FAULT).min(1, ITERATIONS_FAULT).max(20, ITERATIONS_FAULT).default(3),
    provider: textSchema.optional(),
  },
  "must be an object with at least tool and describe",
);

/** The field of a dispatch that contains the input of the responder. */
export const responderInput: AdapterInput = {
  field: "responderInput",
  description: "Input of the responder: tool, describe, materials and more, as docs/responder.md describes.",
};

/** The input of a responder task. */
export type ResponderInput = z.infer<typeof schema>;

/** Parses the input of a dispatch. `tools` are the names of the configured tools. */
export function readInput(value: unknown, tools: readonly string[]): { input: ResponderInput } | { faults: InputFault[] } {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    return {
      faults: parsed.error.issues.flatMap((issue): InputFault[] => {
        const path = ["responderInput", ...issue.path].join(".");
        if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
        return issue.keys.map((key) => ({ path: `${path}.${key}`, message: "is not a field of this input" }));
      }),
    };
  }
  const { tool, materials } = parsed.data;
  const faults: InputFault[] = [];
  if (!tools.includes(tool)) {
    const allowed = tools.length === 0 ? "none; the operator sets BRIDGE_RESPONDER_TOOLS" : tools.join(", ");
    faults.push({ path: "responderInput.tool", message: `is not an allowed tool (allowed: ${allowed})`, isRefused: true });
  }
  for (const [index, file] of materials.entries()) {
    // Links are resolved when the files are read.
    const isInside = !file.startsWith("/") && !file.includes("\0") && !file.split(/[\\/]/).includes("..");
    if (!isInside)
      faults.push({
        path: `responderInput.materials.${index}`,
        message: "must be a path inside the workspace, relative to it",
        isRefused: true,
      });
  }
  return faults.length > 0 ? { faults } : { input: parsed.data };
}
