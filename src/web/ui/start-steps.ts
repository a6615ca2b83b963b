import type { ComponentType } from 'react';

/** What a toolkit adds to the page Getting started: `toolkits/<id>/web/start.tsx` exports one as default. */
export interface StartSteps {
  /** A remark on what is set up, under the overview. */
  readonly Remark: ComponentType;
  /** One sample call that a person can create and then decide. */
  readonly Sample: ComponentType;
  /** Something to ask a connected agent for, and where its result appears. */
  readonly example: { readonly request: string; readonly result: string };
}
