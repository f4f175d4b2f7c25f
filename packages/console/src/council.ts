import type { ListedTask, Task } from "bridge-client";

/** A finding of a council, from any list of its report. */
export interface Finding {
  id: string;
  severity: string | null;
  /** `confirmed`, `revised`, `discovered`, `disputed`, `withdrawn` or `downgraded`. */
  status: string;
  title: string;
  description: string;
  evidence: string | null;
  action: string | null;
  /** Who raised it, and for merged findings in which versions. */
  raisedBy: string;
  /** Who confirmed it, or what remains challenged. */
  note: string;
}

/** What the page shows of a council. */
export interface Council {
  verdict: string | null;
  /** `COMPLETED`, or the status of a council in which no role answered; null while it runs. */
  status: string | null;
  /** Not every requested runtime completed. */
  isPartial: boolean;
  /** Runtimes that did not take part, and why. */
  skipped: { bridge: string; reason: string }[];
  findings: Finding[];
  rounds: number[];
  /** The roles with their turn of each round. */
  roles: { name: string; turns: Map<number, Turn> }[];
}

/** One role in one round. */
export interface Turn {
  /** The child task that asked the role; absent if no question was sent. */
  task: ListedTask | undefined;
  /** One entry for each model: whether the role answered, and the reason if it did not. Empty until there is a report. */
  answers: { answered: boolean; reason: string }[];
}

/** A turn with the fields that identify it. `provider` is null in the debate about the findings of all runtimes. */
interface NamedTurn extends Turn {
  provider: string | null;
  role: string;
  domain: string;
  round: number;
}

type Item = Record<string, unknown>;

/** The severities of findings, from the highest to the lowest. */
const SEVERITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "INFO"];

/** Other words, and findings without a severity, come last. */
function rank(severity: string | null): number {
  const index = SEVERITIES.indexOf(severity ?? "");
  return index === -1 ? SEVERITIES.length : index;
}

const LISTS = [
  "multi_source_confirmed",
  "outputs",
  "single_source_findings",
  "integration_findings",
  "disputed_findings",
  "disputed_outputs",
  "withdrawn_findings",
  "withdrawn_outputs",
];

/** Reads the report and the child tasks of a council; null if the task is none. */
export function readCouncil(task: Task, children: readonly ListedTask[]): Council | null {
  const report = toItem(task.result?.outputs);
  const asked = children.flatMap(readChild);
  if (asked.length === 0 && !("verdict" in report && "roles" in report)) return null;
  const reported = readRecords(report, asked);
  // A child task can complete with an answer that cannot be parsed, so only the report states which role answered.
  const turns = reported.length > 0 ? reported : asked;
  return {
    verdict: toText(report["verdict"]),
    status: toText(report["status"]),
    isPartial: report["partial_coverage"] === true,
    skipped: toItems(report["skip_reasons"]).map(({ bridge, reason }) => ({ bridge: String(bridge), reason: String(reason) })),
    findings: LISTS.flatMap((list) => toItems(report[list]).map((item) => readFinding(item, list))).toSorted(
      (one, other) => rank(one.severity) - rank(other.severity),
    ),
    rounds: [...new Set(turns.map(({ round }) => round))].toSorted((one, other) => one - other),
    roles: groupByRole(turns),
  };
}

function readChild(task: ListedTask): NamedTurn[] {
  const role = readRole(task);
  return role === null ? [] : [{ provider: task.provider, ...role, task, answers: [] }];
}

/** Reads the role that a child task plays in a council; null if it plays none. */
export function readRole(task: ListedTask): { role: string; domain: string; round: number } | null {
  const { role, domain, round } = toItem(toItem(task.metadata)["council"]);
  return typeof role === "string" && typeof round === "number" ? { role, domain: toText(domain) ?? "", round } : null;
}

/** Reads the turns in a report: those of one runtime, or those of each runtime and of their common debate. */
function readRecords(report: Item, asked: readonly NamedTurn[]): NamedTurn[] {
  const read = (records: unknown, provider: string | null): NamedTurn[] =>
    toItems(records).flatMap(({ role, domain, round, answered, reason }) => {
      if (typeof role !== "string" || typeof round !== "number") return [];
      const isSame = (one: NamedTurn): boolean => one.role === role && one.round === round && one.domain === domain;
      // This debate runs after those of the runtimes, so its child task is the last one.
      const child = provider === null ? asked.findLast(isSame) : asked.find((one) => one.provider === provider && isSame(one));
      const answers = [{ answered: answered === true, reason: toText(reason) ?? "" }];
      return [{ provider, role, domain: toText(domain) ?? "", round, task: child?.task, answers }];
    });
  const ofRuntimes = toItems(report["bridge_reports"]).flatMap(({ bridge, roles }) => read(roles, toText(bridge)));
  return [...ofRuntimes, ...read(report["roles"], toText(report["bridge"]))];
}

function groupByRole(turns: readonly NamedTurn[]): Council["roles"] {
  const roles = new Map<string, Map<number, Turn>>();
  for (const { provider, role, domain, round, task, answers } of turns) {
    const parts = [provider ?? "all runtimes", domain].filter((part) => part !== "" && part !== role);
    const name = `${role} (${parts.join(" · ")})`;
    const ofRole = roles.get(name) ?? new Map<number, Turn>();
    // Each model of a runtime has its own answer.
    ofRole.set(round, { task, answers: [...(ofRole.get(round)?.answers ?? []), ...answers] });
    roles.set(name, ofRole);
  }
  return [...roles].map(([name, ofRole]) => ({ name, turns: ofRole }));
}

function readFinding(item: Item, list: string): Finding {
  // A disputed output of one runtime is wrapped with its challenge.
  const finding = "output" in item ? toItem(item["output"]) : item;
  const positions = toItems(finding["positions"]).map(({ bridge, id }) => `${String(bridge)} ${String(id)}`);
  const confirmedBy = Array.isArray(finding["confirmed_by"]) ? `confirmed by ${finding["confirmed_by"].join(", ")}` : "";
  const challenge = toText(item["unresolved_challenge"]);
  return {
    id: toText(finding["id"]) ?? "",
    severity: toText(finding["severity"]),
    status: list.startsWith("withdrawn") ? "withdrawn" : list.startsWith("disputed") ? "disputed" : (toText(finding["status"]) ?? ""),
    title: toText(finding["title"]) ?? "",
    description: toText(finding["description"]) ?? "",
    evidence: toText(finding["evidence"]),
    action: toText(finding["action"]),
    raisedBy: positions.length > 0 ? positions.join(", ") : (toText(finding["agent"]) ?? toText(finding["source_bridge"]) ?? "the council"),
    note: challenge === null ? confirmedBy : `challenged: ${challenge}`,
  };
}

const toItem = (value: unknown): Item => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Item) : {});
const toItems = (value: unknown): Item[] => (Array.isArray(value) ? value.map(toItem) : []);
const toText = (value: unknown): string | null => (typeof value === "string" ? value : null);
