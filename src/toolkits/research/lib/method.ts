import type { Provenance } from '../analysis/provenance.ts';

/** By what means a result came about, as the record and the reply name it. */
export const methodName = ({ method, model, refinedBy }: Provenance): string =>
  [method, model ? `(${model})` : '', refinedBy ? `refined by ${refinedBy}` : ''].filter(Boolean).join(' ');
