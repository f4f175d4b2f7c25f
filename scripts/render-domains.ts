import { domains } from "bridge-council";

/** Renders the table of the domains for which the council has an expert. */
export const renderDomainsTable = (): string =>
  [
    "| domain | expert | chosen for words such as |",
    "|---|---|---|",
    ...domains.map(
      ({ name, expert_role, trigger_signals }) => `| \`${name}\` | ${expert_role.title} | ${trigger_signals.slice(0, 8).join(", ")} |`,
    ),
  ].join("\n");
