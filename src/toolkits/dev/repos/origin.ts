/** `owner/name` of a remote's address, for the forms hosts hand out; undefined for folders and anything else. */
export function ownerAndName(url: string | undefined): string | undefined {
  if (!url) return undefined;
  const path =
    /^(?:https?|ssh|git):\/\/[^/]+\/(.+)$/.exec(url)?.[1] ??
    /^(?:[^@/]+@)?[^:/]+\.[^:/]+:(?!\/\/)(.+)$/.exec(url)?.[1];
  const match = /^([A-Za-z0-9._-]+)\/([A-Za-z0-9._-]+?)(?:\.git)?\/?$/.exec(path ?? '');
  return match ? `${match[1]}/${match[2]}` : undefined;
}
