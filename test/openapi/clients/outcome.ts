/** The address of Bridge, and a token. */
export interface Address {
  url: string;
  token: string;
}

/** The observations of one client, which the test compares. */
export interface Outcome {
  accepted: { taskId: string; state: string; location: string | null };
  waited: { state: string; output: string | undefined };
  listed: string[];
  cancelled: string;
  refused: string;
  events: string[];
}
