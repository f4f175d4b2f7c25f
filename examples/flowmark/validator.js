// A small validator with the same commands and the same form of report as FlowMark. Its documents are numbered steps:
// flowmark describe ai --lang en, flowmark params normalize --lang en, flowmark validate FILE
import { readFileSync } from "node:fs";

const MAX_LINE = 100;

const format = `The document describes a flow of work:

# Title of the flow

1. [role] What the role does -> 2
2. [role] What the role decides -> 3, 1
3. [role] What the role does last -> end

- The first line is "# " and the title. Every other line is blank or a step.
- A step is its number, the role in brackets, a text, " -> " and the steps that can follow, separated by commas. "end" ends the flow.
- Steps are numbered from 1 without gaps. Every number after "->" is the number of a step, and at least one step leads to "end".
`;

const parameters = `Write roles in lower case. A line has at most ${MAX_LINE} characters.
`;

const [command, argument, ...options] = process.argv.slice(2);
const hasTopic = (topic) => argument === topic && options.join(" ") === "--lang en";

if (command === "--version") console.log("flowmark-example 1.0.0");
else if (command === "describe" && hasTopic("ai")) console.log(format);
else if (command === "params" && hasTopic("normalize")) console.log(parameters);
else if (command === "validate" && argument !== undefined) {
  const report = validate(readFileSync(argument, "utf8"));
  console.log(JSON.stringify(report, null, 2));
  // As with FlowMark, a document is valid if the report has no errors. The exit code is 1 if there are only warnings.
  process.exitCode = report.errors.length > 0 ? 2 : report.warnings.length > 0 ? 1 : 0;
} else {
  console.error("usage: flowmark describe ai --lang en | params normalize --lang en | validate FILE");
  process.exitCode = 2;
}

/** Returns the report: a document without errors is valid. */
function validate(text) {
  const errors = [];
  const warnings = [];
  const steps = [];
  for (const [index, content] of text.trimEnd().split("\n").entries()) {
    const line = index + 1;
    if (content.length > MAX_LINE) warnings.push({ code: "W001", line, message: `The line has more than ${MAX_LINE} characters.` });
    if (line === 1) {
      if (!/^# \S/.test(content)) errors.push({ code: "E001", line, message: 'The first line must be "# " and the title.' });
    } else if (content.trim() !== "") {
      const [, number, targets] = /^(\d{1,4})\. \[[a-z][a-z ]*\] \S.* -> (.+)$/.exec(content) ?? [];
      if (number === undefined) errors.push({ code: "E002", line, message: "The line is not a step: 1. [role] text -> 2" });
      else steps.push({ line, number: Number(number), targets: targets.split(",").map((target) => target.trim()) });
    }
  }
  for (const [index, { line, number }] of steps.entries())
    if (number !== index + 1) errors.push({ code: "E003", line, message: `The step has the number ${number} instead of ${index + 1}.` });
  const known = new Set(["end", ...steps.map(({ number }) => String(number))]);
  for (const { line, targets } of steps)
    for (const target of targets) if (!known.has(target)) errors.push({ code: "E004", line, message: `There is no step "${target}".` });
  if (!steps.some(({ targets }) => targets.includes("end"))) errors.push({ code: "E005", line: 1, message: 'No step leads to "end".' });
  return { mode: "strict", errors, warnings };
}
