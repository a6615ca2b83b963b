import { Badge } from '../../ui/badge.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';

interface Props {
  readonly health: string;
  readonly error: string | null;
}

export const Health = ({ health, error }: Props) => (
  <>
    <Badge tone={health === 'ready' ? 'good' : health === 'failed' ? 'bad' : 'neutral'}>{health}</Badge>
    {error ? (
      <>
        {' '}
        <UntrustedText text={error} />
      </>
    ) : null}
  </>
);
