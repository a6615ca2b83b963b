import type { ApiError } from '../lib/api.ts';
import { Foreign } from './foreign.tsx';

/** What went wrong in its own words, which may quote strangers, and what can be done about it. */
export const FaultText = ({ error }: { readonly error: ApiError }) => (
  <div>
    <Foreign block text={error.message} />
    {error.hint ? <p className="muted small">{error.hint}</p> : null}
  </div>
);
