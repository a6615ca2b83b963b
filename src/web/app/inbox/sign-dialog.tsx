import type { ReactNode } from 'react';
import type { Item } from '../../../kernel/views/shapes.ts';
import type { ToSign } from '../../routes/shapes.ts';
import { Badge, EnvironmentBadge, shortName } from '../../ui/badge.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Button } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { readableDigest } from '../../ui/passkey.ts';
import { PlacedTitle } from '../../ui/untrusted-text.tsx';
import { ItemBody } from './body.tsx';

interface Props {
  readonly item: Item;
  /** What the authenticator was given to sign. */
  readonly request: ToSign;
  onCancel(): void;
}

/** Shown while the browser waits for the passkey: exactly what is signed, by whom and how long it is valid. */
export function SignDialog({ item, request, onCancel }: Props) {
  const { presentation } = item;
  return (
    <Dialog title="Sign this decision" onClose={onCancel} footer={<Button onClick={onCancel}>Cancel</Button>}>
      <div className="stack sign-what">
        <div className="row item-badges">
          <EnvironmentBadge environment={presentation.target.environment} />
          {item.effect === 'destroy' ? <Badge tone="bad">Destructive</Badge> : null}
          {presentation.money ? <Badge tone="bad">Moves money</Badge> : null}
          {presentation.undo.possible === false ? <Badge tone="bad">No undo</Badge> : null}
        </div>
        <h3 className="sign-title">
          <PlacedTitle title={presentation.title} environment={presentation.target.environment} />
        </h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
        <section className="sign-args" tabIndex={0} aria-label="Content">
          <ItemBody item={item} />
        </section>
      </div>
      <dl className="block fields">
        <Row name="Asked by">{shortName(item.requester)}</Row>
        <Row name="Decided by">{shortName(request.person ?? '')}, with a passkey</Row>
        <Row name="Digest">
          <code>{readableDigest(request.challenge)}</code>
        </Row>
        <Row name="Valid">For this call with these arguments, once</Row>
      </dl>
      <div className="sign-wait" role="status">
        <span className="empty-icon">
          <Icon name="fingerprint" />
        </span>
        <p>
          <strong>Waiting for your passkey</strong>
          <br />
          <span className="muted small">Confirm in your browser's dialog. Nothing runs until you do.</span>
        </p>
      </div>
    </Dialog>
  );
}

const Row = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="field-row">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
