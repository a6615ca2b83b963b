/** True for what JSON calls an object: neither null nor an array. The parameter names what its fields are known to hold. */
export const isObject = <V = unknown>(value: unknown): value is { [key: string]: V } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
