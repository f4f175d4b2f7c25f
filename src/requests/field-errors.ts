import type { z } from "zod";
import { type FieldError, MAX_FIELD_ERRORS } from "../errors.ts";
import { findNearestName } from "../nearest-name.ts";
import { listKnownFields } from "./known-fields.ts";

interface FieldErrorOptions {
  /** Added to the beginning of each path. */
  prefix?: readonly PropertyKey[];
  /** Names that other products use for a top-level field, with its name in Bridge. */
  knownSynonyms?: Readonly<Record<string, string>>;
  /** The schema of the value, which knows the name that was probably meant. */
  schema?: z.core.$ZodType | undefined;
}

/** Converts zod issues to field errors. Each unknown key gets its own error. */
export function toFieldErrors(issues: readonly z.core.$ZodIssue[], options: FieldErrorOptions = {}): FieldError[] {
  const { prefix = [], knownSynonyms = {}, schema } = options;
  return issues.flatMap((issue) => {
    const path = [...prefix, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      const known = schema === undefined ? [] : listKnownFields(schema, issue.path);
      return issue.keys.slice(0, MAX_FIELD_ERRORS).map((key) => {
        const synonym = path.length === 0 && Object.hasOwn(knownSynonyms, key) ? knownSynonyms[key] : undefined;
        return { path: toDotted([...path, key]), message: describeUnknown(key, synonym, known) };
      });
    }
    if (issue.code === "invalid_union") return describeUnion(issue, path);
    if (issue.code === "invalid_key") return issue.issues.map((fault) => ({ path: toDotted(path), message: fault.message }));
    return [{ path: toDotted(path), message: describe(issue) }];
  });
}

function describeUnknown(key: string, synonym: string | undefined, known: readonly string[]): string {
  if (synonym !== undefined) return `is not a known field; use ${synonym} instead`;
  const nearest = key.length > MAX_SUGGESTED_CHARACTERS ? null : findNearestName(key, known);
  return nearest === null ? "is not a known field; remove it or correct its spelling" : `is not a known field; did you mean ${nearest}?`;
}

/** No field has a longer name, and a comparison takes longer the longer a name is. */
const MAX_SUGGESTED_CHARACTERS = 64;

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
  if (nearest !== undefined) return toFieldErrors(nearest, { prefix: path });
  const { options = [] } = issue as { options?: readonly unknown[] };
  return [{ path: toDotted(path), message: `must be one of ${options.map((option) => JSON.stringify(option)).join(", ")}` }];
}

const addArticle = (type: string): string => (type === "record" ? "an object" : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
const chooseVerb = (origin: string): string => (origin === "string" ? "have" : origin === "array" ? "have" : "be");
const formatUnit = (origin: string): string => (origin === "string" ? " characters" : origin === "array" ? " entries" : "");
