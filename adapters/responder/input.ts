import { z } from "zod";
import type { AdapterInput, InputFault } from "#contract";

const text = "must be a text of 1 to 1000 characters";
const words = z.string(text).trim().min(1, text).max(1_000, text);
const path = "must be a path of 1 to 4096 characters";
const paths = "must be an array of at most 100 paths";
const iterations = "must be a whole number from 1 to 20";

const schema = z.strictObject(
  {
    tool: words,
    describe: words,
    params: words.optional(),
    materials: z.array(z.string(path).min(1, path).max(4_096, path), paths).max(100, paths).default([]),
    model: words.optional(),
    maxIterations: z.int(iterations).min(1, iterations).max(20, iterations).default(3),
    provider: words.optional(),
  },
  "must be an object with at least tool and describe",
);

/** The request to the responder. */
export const responderInput: AdapterInput = {
  field: "responderInput",
  description: "Input of the responder: tool, describe, materials and more, as docs/responder.md describes.",
};

/** The input of a responder task. */
export type ResponderInput = z.infer<typeof schema>;

/** Parses the input of a dispatch. `tools` are the names of the configured tools. */
export function readInput(given: unknown, tools: readonly string[]): { input: ResponderInput } | { faults: InputFault[] } {
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    return {
      faults: parsed.error.issues.flatMap((issue): InputFault[] => {
        const at = ["responderInput", ...issue.path].join(".");
        if (issue.code !== "unrecognized_keys") return [{ path: at, message: issue.message }];
        return issue.keys.map((key) => ({ path: `${at}.${key}`, message: "is not a field of this input" }));
      }),
    };
  }
  const { tool, materials } = parsed.data;
  const faults: InputFault[] = [];
  if (!tools.includes(tool)) {
    const known = tools.length === 0 ? "none; the operator sets BRIDGE_RESPONDER_TOOLS" : tools.join(", ");
    faults.push({ path: "responderInput.tool", message: `is not an allowed tool (allowed: ${known})`, isRefused: true });
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
