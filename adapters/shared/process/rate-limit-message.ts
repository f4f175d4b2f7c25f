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
