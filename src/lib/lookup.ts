/**
 * The value that a record itself has under a name from outside. `record[name]` would also find what every object inherits,
 * such as `constructor` and `toString`.
 */
export const lookup = <T>(
  record: Readonly<Record<string, T>> | null | undefined,
  name: string,
): T | undefined =>
  record !== null && record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

/** Sets a field whose name comes from outside: with `record[name] = value`, `__proto__` would replace the prototype. */
export const put = <T>(record: Record<string, T>, name: string, value: T): void => {
  Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true });
};
