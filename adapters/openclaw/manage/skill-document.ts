import { parse } from "yaml";
import { z } from "zod";
import { ManagementError } from "#contract";

/** The gateway ignores larger files. */
const MAX_BYTES = 256_000;
const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const frontmatterPattern = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/;
const frontmatterSchema = z.object({ name: z.string(), description: z.string().trim().min(1) });

/** Rejects an invalid SKILL.md: the gateway would install a file without valid frontmatter, and then not list the skill. */
export function checkSkillDocument(name: string, content: string): void {
  if (!namePattern.test(name))
    throw new ManagementError(
      "invalid_request",
      "name: must consist of 1 to 64 lower-case letters, digits and hyphens, and start and end with a letter or digit.",
    );
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES) throw new ManagementError("invalid_request", `content: must have at most ${MAX_BYTES} bytes; got ${bytes}.`);
  if (content.includes("\0") || !content.isWellFormed())
    throw new ManagementError("invalid_request", "content: must be valid text without NUL characters and lone surrogates.");
  const frontmatter = frontmatterSchema.safeParse(parseFrontmatter(content)).data;
  if (frontmatter === undefined)
    throw new ManagementError(
      "invalid_request",
      "content: must start with YAML frontmatter between two lines of ---, with a name and a description.",
    );
  if (frontmatter.name !== name)
    throw new ManagementError(
      "invalid_request",
      `content: name in the frontmatter must be ${name}, as in the URL; got ${JSON.stringify(frontmatter.name.slice(0, 100))}.`,
    );
}

function parseFrontmatter(content: string): unknown {
  try {
    return parse(frontmatterPattern.exec(content)?.[1] ?? "");
  } catch {
    return null;
  }
}
