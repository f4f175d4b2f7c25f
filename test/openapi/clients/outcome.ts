/** Where Bridge is, and a token for it. */
export interface Address {
  url: string;
  token: string;
}

/** What one client did, for the test to compare. */
export interface Outcome {
  accepted: { taskId: string; state: string; location: string | null };
  waited: { state: string; output: string | undefined };
  listed: string[];
  cancelled: string;
  refused: string;
  events: string[];
}
