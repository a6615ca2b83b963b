import { Link, useLocation } from 'wouter';
import { Empty } from '../ui/badge.tsx';
import { Page } from '../ui/page-head.tsx';
import { UntrustedText } from '../ui/untrusted-text.tsx';

/** An address that no page has, such as one of a toolkit that is not enabled any more. */
export function NotFoundPage() {
  const [path] = useLocation();
  return (
    <Page title="Page not found">
      <Empty title="No page has this address" icon="search">
        <p>
          <UntrustedText text={path} /> is not a page of this app, or of a toolkit that is enabled.
        </p>
        <p>
          <Link href="/">Go to the inbox</Link>
        </p>
      </Empty>
    </Page>
  );
}
