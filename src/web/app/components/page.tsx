import { type ReactNode, useEffect } from 'react';

interface Props {
  readonly title: string;
  readonly actions?: ReactNode;
  readonly wide?: boolean;
  readonly children: ReactNode;
}

/** The frame of every screen: its heading, what can be done with it as a whole, its content. */
export function Page({ title, actions, wide, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Countersign`;
  }, [title]);
  return (
    <div className={wide ? 'page page-wide' : 'page'}>
      <header className="page-head">
        <h1>{title}</h1>
        {actions ? <div className="page-actions">{actions}</div> : null}
      </header>
      {children}
    </div>
  );
}
