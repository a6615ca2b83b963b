import type { z } from 'zod';

/**
 * One table of the configuration file. A toolkit keeps its own in `config.ts`, a leaf without heavy imports,
 * so that the whole file is checked whichever toolkits are enabled. Mark secrets with `.meta({ secret: true })`
 * and describe every field: help, documentation and error texts are made from it.
 */
export interface ConfigSection<T extends z.ZodObject = z.ZodObject> {
  /** The TOML table, `x_api` or `mcp_policy`. */
  readonly key: string;
  readonly doc: string;
  /** Made when first looked at: most runs need few sections, and a schema takes longer to make than to use. */
  readonly schema: T;
  /** Tools that these values disable altogether: they are not listed, and calling one is calling an unknown name. */
  withholds?(values: z.output<T>): readonly string[];
}

export const configSection = <T extends z.ZodObject>(
  key: string,
  doc: string,
  make: () => T,
  withholds?: (values: z.output<T>) => readonly string[],
): ConfigSection<T> => {
  let made: T | undefined;
  return {
    key,
    doc,
    get schema() {
      made ??= make();
      return made;
    },
    ...(withholds ? { withholds } : {}),
  };
};
