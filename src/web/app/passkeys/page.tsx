import { useState } from 'react';
import type { PasskeyMode } from '../../../contract/passkeys.ts';
import type { Passkey, PasskeyData } from '../../routes/shapes.ts';
import { type ApiError, post, toApiError, useQuery } from '../../ui/api.ts';
import { Badge, Empty } from '../../ui/badge.tsx';
import { Button } from '../../ui/field.tsx';
import { ErrorNotice, Notice } from '../../ui/notice.tsx';
import { Page, TimeAgo } from '../../ui/page-head.tsx';
import { sign } from '../../ui/passkey.ts';
import { Table } from '../../ui/table.tsx';
import { useToast } from '../../ui/toast.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { EnrolDialog } from './enrol-dialog.tsx';
import { readable } from './keys.ts';
import { ModeChoice } from './mode-choice.tsx';

/** A process with a shell can reset as well as a person, so what it did is shown for as long as the log exists. */
const Resets = ({ resets }: Pick<PasskeyData, 'resets'>) => (
  <section aria-label="Resets" className="stack">
    <h2>Resets</h2>
    <Notice tone="warn">
      {resets.map(({ at, by, removed }) => (
        <p key={at}>
          <strong>
            {removed} {removed === 1 ? 'passkey' : 'passkeys'} removed without a signature
          </strong>{' '}
          by <UntrustedText text={by.replace('person:', '')} />, <TimeAgo at={at} /> (
          {at.slice(0, 16).replace('T', ' ')} UTC)
        </p>
      ))}
      <p>Keys from before a reset do not vouch for later ones.</p>
    </Notice>
  </section>
);

type Order = { action: 'remove'; key: string } | { action: 'mode'; mode: PasskeyMode };

export default function PasskeysPage() {
  const { data, error, refresh } = useQuery('/passkeys', { topics: ['config', 'approvals'] });
  const [enrolling, setEnrolling] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError>();
  const say = useToast();
  const order = async (what: Order, said: string): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await post('/passkeys/order/finish', await sign(await post('/passkeys/order', what)));
      say(said, { tone: 'good' });
    } catch (fault) {
      setProblem(toApiError(fault));
    }
    setBusy(false);
    await refresh();
  };
  const add = (
    <Button
      small
      tone="primary"
      icon="plus"
      disabled={!data?.page.usable || busy}
      onClick={() => setEnrolling(true)}
    >
      Add a passkey
    </Button>
  );
  return (
    <Page title="Passkeys" actions={add}>
      <p className="muted">
        Your authenticator signs the exact call you approve. A call that needs a signature does not run
        without it.
      </p>
      <ErrorNotice error={error ?? problem} />
      {data && !data.page.usable ? (
        <Notice tone="warn">
          Browsers do not offer passkeys on {data.page.origin}. Run <code>countersign open</code> and use{' '}
          {data.page.instead}.
        </Notice>
      ) : null}
      {data && data.keys.length === 0 ? (
        <Empty title={data.resets.length > 0 ? 'No passkeys' : 'No passkeys yet'} icon="key">
          <p>Add one before an agent has a shell on this machine, then a second one.</p>
        </Empty>
      ) : data ? (
        <>
          {data.keys.length === 1 ? (
            <Notice>
              Add a second passkey. If you lose the only one, you need a reset, which the audit log shows
              permanently.
            </Notice>
          ) : null}
          <Table<Passkey>
            label="Passkeys"
            rows={data.keys}
            rowKey={({ fingerprint }) => fingerprint}
            columns={[
              { key: 'name', label: 'Name', cell: ({ name }) => <UntrustedText text={name} /> },
              { key: 'person', label: 'Person', cell: ({ person }) => person.replace('person:', '') },
              {
                key: 'fingerprint',
                label: 'Fingerprint',
                cell: ({ fingerprint }) => <code>{readable(fingerprint)}</code>,
              },
              {
                key: 'since',
                label: 'Enrolled',
                minor: true,
                cell: ({ enrolled_at }) => <TimeAgo at={enrolled_at} />,
              },
              {
                key: 'trust',
                label: 'Countersigned',
                minor: true,
                cell: ({ countersigned_by }) =>
                  countersigned_by ? <Badge tone="good">by another key</Badge> : <Badge>first key</Badge>,
              },
              {
                key: 'act',
                label: <span className="sr-only">Remove</span>,
                cell: ({ fingerprint, name }) => (
                  <Button
                    small
                    disabled={busy || data.keys.length === 1}
                    aria-label={`Remove ${name}`}
                    onClick={() => void order({ action: 'remove', key: fingerprint }, `Removed ${name}.`)}
                  >
                    Remove
                  </Button>
                ),
              },
            ]}
          />
          <p className="muted small">
            Store the fingerprints elsewhere: <code>countersign audit verify --signer FINGERPRINT</code>{' '}
            compares them with the log.
          </p>
          <ModeChoice
            mode={data.mode}
            configured={data.configured}
            busy={busy}
            onChoose={(mode) =>
              void order({ action: 'mode', mode }, 'Changed, and signed into the audit log.')
            }
          />
        </>
      ) : null}
      {data && data.resets.length > 0 ? <Resets resets={data.resets} /> : null}
      {data?.page.usable && enrolling ? (
        <EnrolDialog
          rpId={data.page.rpId}
          person={data.person.replace('person:', '')}
          first={data.keys.length === 0}
          onClose={() => {
            setEnrolling(false);
            void refresh();
          }}
        />
      ) : null}
    </Page>
  );
}
