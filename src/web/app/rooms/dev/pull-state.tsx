import { Badge } from '../../components/badge.tsx';
import type { Pull } from './types.ts';

export function PullState({ pull }: { readonly pull: Pull }) {
  if (pull.merged) return <Badge tone="info">merged</Badge>;
  return <Badge tone={pull.state === 'open' ? 'good' : 'neutral'}>{pull.state}</Badge>;
}
