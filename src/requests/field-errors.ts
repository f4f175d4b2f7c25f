import type { z } from "zod";
import { type FieldError, MAX_FIELD_ERRORS } from "../errors.ts";

/**
 * Converts zod issues to field errors. Each unknown key gets its own error. `knownSynonyms` maps names that other products use for a
 * top-level field to its name in Bridge.
 */
export function toFieldErrors(
  issues: readonly z.core.$ZodIssue[],
  prefix: readonly PropertyKey[] = [],
  knownSynonyms: Readonly<Record<string, string>> = {},
): FieldError[] {
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys")
      return issue.keys.slice(0, MAX_FIELD_ERRORS).map((key) => {
        const name = path.length === 0 && Object.hasOwn(knownSynonyms, key) ? knownSynonyms[key] : undefined;
        return {
          path: toDotted([...path, key]),
          message: name === undefined ? UNKNOWN_FIELD : `is not a known field; use ${name} instead`,
        };
      });
    if (issue.code === "invalid_union") return describeUnion(issue, path);
    if (issue.code === "invalid_key") return issue.issues.map((fault) => ({ path: toDotted(path), message: fault.message }));
    return [{ path: toDotted(path), message: describe(issue) }];
  });
}

const UNKNOWN_FIELD = "is not a known field; remove it or correct its spelling";

/** Maximum length of a name in a path. A name may be as long as the body. */
const MAX_NAME_CHARACTERS = 200;

/** Formats a path: `["tools", 0, "name"]` as `tools.0.name`. */
export const toDotted = (path: readonly PropertyKey[]): string => path.map(cutName).join(".");

function cutName(key: PropertyKey): string {
  const name = String(key);
  return name.length <= MAX_NAME_CHARACTERS ? name : `${name.slice(0, MAX_NAME_CHARACTERS)}…`;
}

function describe(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      // Only the message of the issue shows whether the field is missing.
      return issue.message.endsWith("received undefined") ? `is required (${issue.expected})` : `must be ${addArticle(issue.expected)}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `must ${chooseVerb(issue.origin)} at least ${issue.minimum}${formatUnit(issue.origin)}`;
    case "too_big":
      return `must ${chooseVerb(issue.origin)} at most ${issue.maximum}${formatUnit(issue.origin)}`;
    default:
      return issue.message;
  }
}

/** Reports the faults of the branch with the fewest faults, which is most likely the one that the caller meant. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, path: readonly PropertyKey[]): FieldError[] {
  const nearest = issue.errors.toSorted((left, right) => left.length - right.length)[0];
  if (nearest !== undefined) return toFieldErrors(nearest, path);
  const { options = [] } = issue as { options?: readonly unknown[] };
  return [{ path: toDotted(path), message: `must be one of ${options.map((option) => JSON.stringify(option)).join(", ")}` }];
}

const addArticle = (type: string): string => (type === "record" ? "an object" : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
const chooseVerb = (origin: string): string => (origin === "string" ? "have" : origin === "array" ? "have" : "be");
const formatUnit = (origin: string): string => (origin === "string" ? " characters" : origin === "array" ? " entries" : "");
