/** Creates a random id for a task or a request. `crypto.randomUUID` is unavailable on pages that are not served over https. */
export const createRandomId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
