import type { LocalVerbs } from "bridge-cli";

/** What the groups of commands do. */
export const groups: LocalVerbs["groups"] = {
  token: "Create tokens.",
  config: "Check and list the settings of the server.",
  db: "Check, back up and restore the database of the server.",
};

/** The commands for a server on this machine, in the order of the help. They use the settings of the environment and of `.env`. */
export const verbs: LocalVerbs["verbs"] = [
  { name: "serve", summary: "Start Bridge in this directory, as npm start does.", load: () => import("./verbs/serve.ts") },
  {
    name: "token create",
    arguments: "<name>",
    summary: "Create a token, and print it once.",
    options: [
      { flags: "--tenant <tenant>", text: "tenant of the token (default: default)" },
      { flags: "--scopes <scopes>", text: "scopes, separated by commas (default: dispatch,read)" },
      { flags: "--expires <time>", text: "when it expires, for example 90d or 2030-01-31T00:00:00Z (default: never)" },
      { flags: "--add", text: "add it to the file in BRIDGE_TOKENS_FILE, which Bridge reads again" },
    ],
    help: "The token is printed only once. Bridge needs only its hash, which is in the printed entry for BRIDGE_TOKENS_FILE.",
    load: () => import("./verbs/token-create.ts"),
  },
  {
    name: "config check",
    summary: "Check the settings and the files that they name, as a start does.",
    load: () => import("./verbs/config-check.ts"),
  },
  {
    name: "config list",
    summary: "List the settings with their values, defaults and sources. Secrets are masked.",
    options: [{ flags: "--set", text: "only settings that are set" }],
    load: () => import("./verbs/config-list.ts"),
  },
  {
    name: "db check",
    summary: "Check the database for damage, also while Bridge runs. The exit code is 1 if it is damaged.",
    load: () => import("./verbs/db-check.ts"),
  },
  {
    name: "db backup",
    arguments: "<file>",
    summary: "Write a verified backup of the database, also while Bridge runs.",
    help: [
      "A file <file>.json next to the backup describes it. Keep both files.",
      "A backup contains the tasks, events, callbacks and approvals. It does not contain the files of agents (workspaces),",
      "the settings, the tokens file or the generated token. Copy those separately.",
    ].join("\n"),
    load: () => import("./verbs/db-backup.ts"),
  },
  {
    name: "db restore",
    arguments: "<file>",
    summary: "Replace the database by a backup, with new event ids. Stop Bridge first.",
    options: [
      { flags: "--force", text: "replace a database that contains tasks" },
      { flags: "--without-manifest", text: "restore a SQLite file that brg db backup did not write" },
    ],
    load: () => import("./verbs/db-restore.ts"),
  },
  { name: "db migrate", summary: "Upgrade the schema of a PostgreSQL database.", load: () => import("./verbs/db-migrate.ts") },
  {
    name: "db renew-epoch",
    summary: "Start a new epoch of event ids in a PostgreSQL database that was restored in another way.",
    load: () => import("./verbs/db-renew-epoch.ts"),
  },
];
