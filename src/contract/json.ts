export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A JSON Schema document; upstream servers' schemas pass through verbatim, so no narrower type is honest. */
export type JsonSchema = { [key: string]: unknown };

/** `dry_run: false` means the same as leaving it out, and must have the same digest; a remote tool's is its own. */
export function withoutFalseDryRun(args: JsonObject, tool: { readonly verbatimArgs?: boolean }): JsonObject {
  if (tool.verbatimArgs) return args;
  const { dry_run, ...rest } = args;
  return dry_run === undefined || dry_run === false ? rest : { ...rest, dry_run };
}
