import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import { UntrustedText } from './untrusted-text.tsx';

interface CardProps {
  readonly icon: IconName;
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** One part of what a call would do, with a heading that says what it is. */
export const BlockCard = ({ icon, title, aside, children }: CardProps) => (
  <section className="block" aria-label={title}>
    <header className="block-head">
      <Icon name={icon} small />
      <h3>
        <UntrustedText text={title} />
      </h3>
      {aside ? <span className="block-aside">{aside}</span> : null}
    </header>
    {children}
  </section>
);
