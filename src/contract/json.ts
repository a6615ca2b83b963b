export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A JSON Schema document; upstream servers' schemas pass through verbatim, so no narrower type is honest. */
export type JsonSchema = { [key: string]: unknown };
