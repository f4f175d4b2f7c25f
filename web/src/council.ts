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
  /** Not every requested runtime completed. */
  isPartial: boolean;
  /** Runtimes that did not take part, and why. */
  skipped: { bridge: string; reason: string }[];
  findings: Finding[];
  rounds: number[];
  /** The roles with the child task of each round. */
  roles: { name: string; tasks: Map<number, ListedTask> }[];
}

type Item = Record<string, unknown>;

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
  const asked = children.flatMap((child) => {
    const { role, domain, round } = toItem(toItem(child.metadata)["council"]);
    if (typeof role !== "string" || typeof round !== "number") return [];
    const name = [child.provider, role, domain].filter((part) => typeof part === "string" && part !== "" && part !== role).join(" · ");
    return [{ name: `${role} (${name})`, round, child }];
  });
  const report = toItem(task.result?.outputs);
  if (asked.length === 0 && !("verdict" in report && "roles" in report)) return null;
  const names = [...new Set(asked.map(({ name }) => name))];
  return {
    verdict: toText(report["verdict"]),
    isPartial: report["partial_coverage"] === true,
    skipped: toItems(report["skip_reasons"]).map(({ bridge, reason }) => ({ bridge: String(bridge), reason: String(reason) })),
    findings: LISTS.flatMap((list) => toItems(report[list]).map((item) => readFinding(item, list))),
    rounds: [...new Set(asked.map(({ round }) => round))].toSorted((one, other) => one - other),
    roles: names.map((name) => ({
      name,
      tasks: new Map(asked.filter((entry) => entry.name === name).map(({ round, child }) => [round, child])),
    })),
  };
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
