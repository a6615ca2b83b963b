import { useState } from 'react';
import { Link } from 'wouter';
import type { ApiError } from '../../ui/api.ts';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice } from '../../ui/notice.tsx';
import { textAt } from '../../ui/session.ts';
import { RejectDialog } from './reject-dialog.tsx';

/** Its row cannot be read, or is not what was requested: nothing of it is shown, and a person can still reject it. */
const canBeRejected = ({ code, detail }: ApiError): boolean => {
  if (code === 'approval_invalid') return true;
  const isUnreadable = code === 'db_error' && textAt(detail, 'column') !== undefined;
  return isUnreadable && (textAt(detail, 'state') ?? 'pending') === 'pending';
};

interface Props {
  readonly id: number;
  readonly error: ApiError;
  onRejected(): void;
}

/** In place of an approval that cannot be shown: why, and what can still be done. */
export function MissingItem({ id, error, onRejected }: Props) {
  const [isRejecting, setRejecting] = useState(false);
  return (
    <div className="item-missing">
      <ErrorNotice error={error} />
      {canBeRejected(error) ? (
        <div>
          <Button tone="danger" icon="cross" onClick={() => setRejecting(true)}>
            Reject
          </Button>
        </div>
      ) : null}
      <Link href="/">Back to the inbox</Link>
      {isRejecting ? (
        <RejectDialog
          id={id}
          onClose={() => setRejecting(false)}
          onDone={() => {
            setRejecting(false);
            onRejected();
          }}
        />
      ) : null}
    </div>
  );
}
