import path from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";

const directory = path.join(import.meta.dirname, "clients");
const file = "../../../openapi.yaml";

/** A permitted finding of a linter: the rule, the place, and the reason. */
interface Exception {
  rule: string;
  place: RegExp;
  reason: string;
}

interface Complaint {
  rule: string;
  place: string;
  message: string;
}

const redoclyExceptions: Exception[] = [];
const spectralExceptions: Exception[] = [
  {
    rule: "operation-success-response",
    place: /^#\/paths\/\/ws\/bridge\/get\/responses$/,
    reason: "A WebSocket that opens is answered with 101, which the rule does not know.",
  },
];

/** Returns the findings that no exception permits, and the exceptions that no finding needs. */
function judge(complaints: readonly Complaint[], exceptions: readonly Exception[]): object[] {
  const covers =
    ({ rule, place }: Exception) =>
    (complaint: Complaint) =>
      complaint.rule === rule && place.test(complaint.place);
  return [
    ...complaints.filter((complaint) => !exceptions.some((exception) => covers(exception)(complaint))),
    ...exceptions.filter((exception) => !complaints.some(covers(exception))),
  ];
}

async function run(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout, stderr } = await execa(path.join(directory, "node_modules/.bin", program), args, {
    cwd: directory,
    env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", CI: "true" },
    reject: false,
    stdin: "ignore",
  });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${program} wrote no report: ${stdout}\n${stderr}`);
  }
}

test("Redocly's recommended rules report no errors, and only the listed warnings", async () => {
  const { problems } = (await run("redocly", ["lint", file, "--config", "redocly.yaml", "--format", "json"])) as {
    problems: { ruleId: string; message: string; location: { pointer?: string }[] }[];
  };
  const complaints = problems.map(({ ruleId, message, location }) => ({ rule: ruleId, message, place: location[0]?.pointer ?? "" }));
  expect(judge(complaints, redoclyExceptions)).toEqual([]);
});

test("Spectral's rules for OpenAPI report no errors, and only the listed warnings", async () => {
  const results = (await run("spectral", ["lint", file, "--ruleset", "spectral.yaml", "--format", "json", "--quiet"])) as {
    code: string;
    message: string;
    path: (string | number)[];
  }[];
  const complaints = results.map(({ code, message, path: steps }) => ({ rule: code, message, place: `#/${steps.join("/")}` }));
  expect(judge(complaints, spectralExceptions)).toEqual([]);
});
