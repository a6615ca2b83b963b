import { Link, useSearch } from 'wouter';
import type { Item } from '../../../kernel/views/shapes.ts';
import { Badge, EnvironmentBadge, StateBadge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { TimeAgo } from '../../ui/page-head.tsx';
import { PlacedTitle } from '../../ui/untrusted-text.tsx';
import { effectName } from './filter.ts';

interface Props {
  readonly item: Item;
  readonly place: string;
  onMove(step: 1 | -1): void;
}

/** Where it acts and how risky it is in a few words, then the title. */
export function ItemHead({ item, place, onMove }: Props) {
  const { presentation } = item;
  const search = useSearch();
  const { environment } = presentation.target;
  const [risk, effect] = presentation.money
    ? (['bad', 'Moves money'] as const)
    : item.effect === 'destroy'
      ? (['bad', 'Destructive'] as const)
      : (['neutral', presentation.kind === 'post' ? 'Publishes' : effectName(item.effect)] as const);
  return (
    <>
      <div className="item-top">
        <Link href={search ? `/?${search}` : '/'} className="item-back">
          <Icon name="left" /> Inbox
        </Link>
        <span className="grow" />
        <span className="muted">{place}</span>
        <button type="button" className="icon-button" aria-label="Previous" onClick={() => onMove(-1)}>
          <Icon name="up" />
        </button>
        <button type="button" className="icon-button" aria-label="Next" onClick={() => onMove(1)}>
          <Icon name="down" />
        </button>
      </div>
      <header className="item-head">
        <div className="row item-badges">
          {item.state === 'pending' ? null : <StateBadge state={item.state} />}
          <EnvironmentBadge environment={environment} />
          <Badge tone={risk}>
            {risk === 'bad' ? <Icon name={presentation.money ? 'money' : 'trash'} /> : null}
            {effect}
          </Badge>
          {item.signing.required > 0 ? (
            <Badge>
              <Icon name="fingerprint" /> Signature needed
            </Badge>
          ) : null}
          {item.kind === 'permit' ? (
            <Badge tone="info" title="Approving authorizes this exact call, once">
              Permit
            </Badge>
          ) : null}
          <span className="item-asked">
            #{item.id} · <TimeAgo at={item.created_at} />
            {item.expires_at && item.state === 'pending' ? (
              <>
                {' '}
                · expires <TimeAgo at={item.expires_at} />
              </>
            ) : null}
          </span>
        </div>
        <h2 className="item-title" aria-live="polite">
          <PlacedTitle title={presentation.title} environment={environment} />
        </h2>
      </header>
    </>
  );
}
