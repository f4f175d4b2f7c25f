import { type FieldError, parseExactJson } from "bridge-client";
import { quoteForShell } from "./shell-quote.ts";

/** The fields of the form, as the person typed them. */
export type FormValues = Record<string, string>;

/** A field that is a text in the form, in the order of the form. */
const TEXT_FIELDS = ["provider", "agentId", "message", "taskId", "model", "systemPrompt", "resumeToken", "callbackUrl"] as const;
const CHOICE_FIELDS = ["profile", "approvals"] as const;
/** Fields that are written as JSON. */
const JSON_FIELDS = ["metadata", "bridgeInput", "responderInput"] as const;
/** Fields of the input of a council, which have fields in the form. `domains` and `providers` are lists, separated by commas. */
const COUNCIL_FIELDS = ["task_description", "scope", "task_type", "intensity", "domains", "provider", "providers"] as const;
const LISTS: readonly string[] = ["domains", "providers"];
/** Fields of `repository` that have fields in the form. */
const REPOSITORY_FIELDS = ["name", "ref", "branch"] as const;
/** Values of the other fields of `repository`, which a stored request has even if its dispatch omitted them. */
const REPOSITORY_DEFAULTS: Readonly<Record<string, unknown>> = { keep: "branch", push: false };

/** Names of the fields, as the form shows them. */
export const fieldLabels: Readonly<Record<string, string>> = {
  provider: "Adapter",
  agentId: "Agent",
  message: "Message",
  profile: "Profile",
  approvals: "Approvals",
  model: "Model",
  timeoutSeconds: "Time limit in seconds",
  maxCostUsd: "Maximum cost in US dollars",
  output: "Output",
  outputPath: "Output file",
  outputSchema: "JSON Schema of the output",
  taskId: "Task id",
  resumeToken: "Resume token",
  callbackUrl: "Callback URL",
  systemPrompt: "System prompt",
  metadata: "Metadata",
  bridgeInput: "Input of the adapter",
  responderInput: "Input of the responder",
  "repository.name": "Repository",
  "repository.ref": "Start from",
  "repository.branch": "Branch of the task",
  others: "Other fields of the dispatch",
  "council.task_description": "Task",
  "council.scope": "Scope",
  "council.task_type": "Type",
  "council.intensity": "Intensity",
  "council.domains": "Domains",
  "council.provider": "Runtime",
  "council.providers": "Runtimes",
  "council.others": "Other fields of the council",
};

/** The kind of adapter that the form is for. */
export type FormKind = "agent" | "council";

/** The body of a dispatch, or what is wrong with the fields. */
export type BuiltDispatch = { body: Record<string, unknown>; errors: FieldError[] };

/** Builds the body of a dispatch. Empty fields are omitted, so that Bridge applies its defaults. */
export function buildDispatch(values: FormValues, kind: FormKind = "agent"): BuiltDispatch {
  const errors: FieldError[] = [];
  const get = (name: string): string => values[name] ?? "";
  const parse = (name: string): unknown => {
    if (get(name).trim() === "") return undefined;
    try {
      return parseExactJson(get(name));
    } catch (error) {
      errors.push({ path: name, message: `must be JSON: ${(error as Error).message}` });
      return undefined;
    }
  };
  const others = parse("others") ?? {};
  if (typeof others !== "object" || others === null || Array.isArray(others))
    errors.push({ path: "others", message: "must be a JSON object" });
  const body: Record<string, unknown> = {};
  const isShown = (name: string): boolean => kind === "agent" || (name !== "message" && name !== "bridgeInput");
  for (const name of TEXT_FIELDS.filter(isShown))
    if (get(name).trim() !== "") body[name] = name === "message" ? get(name) : get(name).trim();
  for (const name of CHOICE_FIELDS) if (get(name) !== "") body[name] = get(name);
  if (get("timeoutSeconds").trim() !== "") body["timeoutSeconds"] = Number(get("timeoutSeconds"));
  if (get("maxCostUsd").trim() !== "") body["budget"] = { maxCostUsd: Number(get("maxCostUsd")) };
  const repository = readFields(values, "repository.", REPOSITORY_FIELDS);
  if (Object.keys(repository).length > 0) body["repository"] = repository;
  const output = buildOutput(get("output"), get("outputPath"), () => parse("outputSchema"));
  if (output !== undefined) body["outputStrategy"] = output;
  for (const name of JSON_FIELDS.filter(isShown)) {
    const value = parse(name);
    if (value !== undefined) body[name] = value;
  }
  if (kind === "council") body["bridgeInput"] = { ...buildCouncil(values), ...(parse("council.others") as object | undefined) };
  return { body: { ...body, ...(others as object) }, errors };
}

function buildCouncil(values: FormValues): Record<string, unknown> {
  const entries = Object.entries(readFields(values, "council.", COUNCIL_FIELDS));
  return Object.fromEntries(entries.map(([name, value]) => [name, LISTS.includes(name) ? splitList(value) : value]));
}

/** Returns the fields of a group that are not empty. */
function readFields(values: FormValues, prefix: string, names: readonly string[]): Record<string, string> {
  const entries = names.map((name) => [name, (values[prefix + name] ?? "").trim()] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

/** Splits a list of the form into its entries. */
export const splitList = (text: string): string[] => text.split(",").filter((entry) => entry !== "");

function buildOutput(type: string, path: string, parseSchema: () => unknown): object | undefined {
  if (type === "file") return { type, path: path.trim() };
  if (type === "structured") return { type, schema: parseSchema() ?? {} };
  return type === "" ? undefined : { type };
}

/** Converts a stored request to the fields of the form, without its id. Fields that the form lacks are kept as JSON. */
export function toFormValues(request: Record<string, unknown>): FormValues {
  const { taskId: _, outputStrategy, timeoutSeconds, ...rest } = request;
  const values: FormValues = {};
  const others: Record<string, unknown> = {};
  const known: readonly string[] = [...TEXT_FIELDS, ...CHOICE_FIELDS];
  for (const [name, value] of Object.entries(rest)) {
    if (known.includes(name) && typeof value === "string") values[name] = value;
    else if (name === "budget" && hasOnlyCost(value)) values["maxCostUsd"] = String(value.maxCostUsd);
    else if (name === "repository" && isPlainRepository(value)) Object.assign(values, toRepositoryValues(value));
    else if (name === "bridgeInput") Object.assign(values, toCouncilValues(value), { bridgeInput: JSON.stringify(value, null, 2) });
    else if ((JSON_FIELDS as readonly string[]).includes(name)) values[name] = JSON.stringify(value, null, 2);
    else others[name] = value;
  }
  if (timeoutSeconds !== undefined) values["timeoutSeconds"] = String(timeoutSeconds);
  const { type = "", path = "", schema } = (outputStrategy ?? {}) as { type?: string; path?: string; schema?: unknown };
  Object.assign(values, { output: type, outputPath: path, ...(schema !== undefined && { outputSchema: JSON.stringify(schema, null, 2) }) });
  if (Object.keys(others).length > 0) values["others"] = JSON.stringify(others, null, 2);
  return values;
}

/** Whether a repository is one that the form can show. */
function isPlainRepository(repository: unknown): repository is Record<string, unknown> {
  const known: readonly string[] = REPOSITORY_FIELDS;
  return Object.entries(repository ?? {}).every(([name, value]) => known.includes(name) || REPOSITORY_DEFAULTS[name] === value);
}

const toRepositoryValues = (repository: Record<string, unknown>): FormValues =>
  Object.fromEntries(REPOSITORY_FIELDS.map((name) => [`repository.${name}`, String(repository[name] ?? "")]));

/** Whether a budget is one that the form can show. */
function hasOnlyCost(budget: unknown): budget is { maxCostUsd: number } {
  return JSON.stringify(Object.keys(budget ?? {})) === '["maxCostUsd"]';
}

function toCouncilValues(input: unknown): FormValues {
  const values: FormValues = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries((input ?? {}) as Record<string, unknown>)) {
    const isKnown = (COUNCIL_FIELDS as readonly string[]).includes(name);
    if (isKnown && typeof value === "string") values[`council.${name}`] = value;
    else if (isKnown && Array.isArray(value)) values[`council.${name}`] = value.join(",");
    else others[name] = value;
  }
  return { ...values, ...(Object.keys(others).length > 0 && { "council.others": JSON.stringify(others, null, 2) }) };
}

/** Returns the field of the form that an error of Bridge belongs to; null if the form has no such field. */
export function fieldOf(path: string, kind: FormKind = "agent"): string | null {
  const [first = "", second = ""] = path.split(".");
  if (kind === "council" && path === "council.others") return path;
  if (kind === "council" && first === "bridgeInput")
    return (COUNCIL_FIELDS as readonly string[]).includes(second) ? `council.${second}` : "council.others";
  if (first === "outputStrategy") return second === "path" ? "outputPath" : second === "schema" ? "outputSchema" : "output";
  if (path === "budget.maxCostUsd") return "maxCostUsd";
  if (first === "repository" && (REPOSITORY_FIELDS as readonly string[]).includes(second || "name"))
    return `repository.${second || "name"}`;
  const known: readonly string[] = [
    ...TEXT_FIELDS,
    ...CHOICE_FIELDS,
    ...JSON_FIELDS,
    "timeoutSeconds",
    "outputPath",
    "outputSchema",
    "others",
  ];
  return known.includes(first) ? first : null;
}

/** Describes an error at its field, in the words of the form. */
export function describeFault(field: string, message: string): string {
  const text = message.replace(/^is required \(\w+\)$/, "is required");
  return `${fieldLabels[field] ?? field} ${text.replace(/[.;]$/, "")}.`;
}

/** Returns the command that sends the same dispatch from a terminal. */
export const toCurl = (url: string, body: Record<string, unknown>): string =>
  [
    `curl ${quoteForShell(url)}`,
    `-H "Authorization: Bearer $BRIDGE_TOKEN"`,
    `-H "Content-Type: application/json"`,
    `-d ${quoteForShell(JSON.stringify(body))}`,
  ].join(" \\\n  ");

/** Returns the program that sends the same dispatch with the package `bridge-client`, and waits for its end. */
export const toTypeScript = (url: string, body: Record<string, unknown>): string =>
  `import { createBridgeClient } from "bridge-client";

const bridge = createBridgeClient({ url: ${JSON.stringify(url)}, token: process.env.BRIDGE_TOKEN ?? "" });
const { state, result } = await bridge.run(${JSON.stringify(body, null, 2)});
console.log(state, result?.output);
`;
