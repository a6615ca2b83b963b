import type { ApprovalView } from '../../../web/ui/approval-view.ts';
import type { Json } from '../../../web/ui/session.ts';
import { LengthMeter } from './post.tsx';

const Length = ({ value }: { readonly value: Json | undefined }) => (
  <LengthMeter text={typeof value === 'string' ? value : ''} />
);

/** While a person edits a post, how long it is as X counts it. */
const view: ApprovalView = {
  below: (field) => (field === 'text' || field === 'tweets' ? Length : undefined),
};

export default view;
