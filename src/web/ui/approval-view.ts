import type { ComponentType } from 'react';
import type { Json } from './session.ts';

/** What a toolkit adds to its own approvals: `toolkits/<id>/web/approval.tsx` exports one as default. */
export interface ApprovalView {
  /** Shown under the control of one argument while a person edits it; undefined where there is nothing to add. */
  below?(field: string): ComponentType<{ readonly value: Json | undefined }> | undefined;
}
