import { z } from "zod";
import { CROSS_DOMAIN } from "../types.ts";

const FAULT = "must be 1 to 64 letters, digits, spaces or - _ / + .";

/** The name of a domain, in lower case. Restricted, because names appear in prompts and logs. */
export const domainName = z
  .string(FAULT)
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9][a-z0-9 _/+.-]{0,63}$/, FAULT)
  .refine((name) => name !== CROSS_DOMAIN, "is reserved for roles without a domain; use another name");
