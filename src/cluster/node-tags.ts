/** The tag that every node has besides its configured ones. */
const tagOfName = (name: string): string => `node:${name}`;

/** The tags that a dispatch can require of a node. */
export const tagsOf = ({ name, tags }: { name: string; tags: readonly string[] }): readonly string[] => [...tags, tagOfName(name)];

/** The first required tag that is not among the tags; undefined if all are. */
export const findMissingTag = (needs: readonly string[], tags: readonly string[]): string | undefined =>
  needs.find((tag) => !tags.includes(tag));
