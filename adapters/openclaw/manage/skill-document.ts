import { parse } from "yaml";
import { z } from "zod";
import { ManagementError } from "#contract";

/** The gateway passes over larger ones. */
const MAX_BYTES = 256_000;
const namePattern = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const frontmatterPattern = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/;
const frontmatterSchema = z.object({ name: z.string(), description: z.string().trim().min(1) });

/** Takes a SKILL.md only as the gateway would: it installs one without a valid head, and then does not show it. */
export function checkSkillDocument(name: string, content: string): void {
  if (!namePattern.test(name))
    throw new ManagementError(
      "invalid_request",
      "name: a skill of OpenClaw has small letters, digits and - in its name, up to 64, the first and the last no -.",
    );
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES)
    throw new ManagementError("invalid_request", `content: has ${bytes} bytes; OpenClaw takes ${MAX_BYTES} for a SKILL.md.`);
  if (content.includes("\0") || !content.isWellFormed())
    throw new ManagementError("invalid_request", "content: must be text, without NUL and half characters.");
  const head = frontmatterSchema.safeParse(readHead(content)).data;
  if (head === undefined)
    throw new ManagementError(
      "invalid_request",
      "content: a SKILL.md begins with a head in YAML between two lines of ---, with a name and a description.",
    );
  if (head.name !== name)
    throw new ManagementError(
      "invalid_request",
      `content: the head names the skill ${JSON.stringify(head.name.slice(0, 100))}; it must be ${name}, as in the address.`,
    );
}

function readHead(content: string): unknown {
  try {
    return parse(frontmatterPattern.exec(content)?.[1] ?? "");
  } catch {
    return null;
  }
}
