/** Output of the event with which Bridge ends a tool call whose end the runtime has not reported, because its task ended before. */
export const UNREPORTED_END = "The task ended before the runtime reported the end of this call.";
