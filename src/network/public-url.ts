/** Returns the URL of a path, such as `ui/tasks`, below the URL at which people reach Bridge. That URL can have a path itself. */
export const toPublicUrl = (publicUrl: string, path: string): string => `${publicUrl.replace(/\/+$/, "")}/${path}`;
