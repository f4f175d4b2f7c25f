import { type Failure, failure } from "./failure.ts";

/** Phrases by which vendors report a rate limit, a quota or the usage limit of a plan, but not the limit of a context or of an answer. */
const PHRASES = [
  /\b429\b|rate.?limit|too many requests|quota|resource.?exhausted/,
  /\b(usage|session|daily|weekly|monthly|hourly|spend(ing)?|\d+-hour) limit\b/,
  /\b(hit|reached|exceeded) your (\w+ )?limit\b/,
  /\bout of (extra )?usage\b|\bexhausted your (\w+ )?capacity\b/,
].map(({ source }) => source);

const PATTERN = new RegExp(PHRASES.join("|"), "i");

/** Returns whether an error message reports a rate or usage limit. It must not be applied to a model's text. */
export const isRateLimitMessage = (message: string): boolean => PATTERN.test(message);

/** Notices of a limit with which programs can end a turn as if they were an answer. Each must match the whole text. */
const NOTICES = [
  // Claude Code and its earlier versions. A line with a command can follow.
  /(?:You['’]ve (?:hit|reached) your (?:[\w-]+ )?limit|(?:[\w-]+ )?limit reached) ?[·∙] ?resets [\w ,:]{1,40}(?:\([\w/+-]{1,40}\))?(?:\n\/[^\n]{1,100})?/,
  /Claude (?:AI )?usage limit reached(?:\|\d{10,13}|\. Your limit will reset at [^\n]{1,60})/,
  /You['’]ve hit your (?:[\w-]+ )?spend limit\.?/,
  // Codex.
  /You['’]ve hit your usage limit[^\n]{0,300}\btry again (?:at|in) [^\n]{1,60}/,
  // OpenClaw.
  /⚠️ API rate limit reached\. Please try again later\./,
].map(({ source }) => source);

const NOTICE = new RegExp(`^(?:${NOTICES.join("|")})$`);
/** No notice is longer. */
const MAX_NOTICE_LENGTH = 500;

/** Returns whether a whole answer is a program's notice of a limit. An answer that merely mentions one is not. */
export function isLimitNotice(answer: string): boolean {
  const text = answer.trim();
  return text.length <= MAX_NOTICE_LENGTH && NOTICE.test(text);
}

/** Creates the outcome of a task whose answer is such a notice. */
export const limitFailure = (notice: string): Failure => failure("rate_limited", `The runtime ended its turn with: ${notice.trim()}`);
