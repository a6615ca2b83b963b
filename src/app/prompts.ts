import type { Prompt } from '../contract/toolkit.ts';

/** A job of the core; toolkits bring their own. */
export const REVIEW_INBOX: Prompt = {
  name: 'review_inbox',
  title: 'Review the inbox',
  description: 'Go through the pending approvals and help the person decide.',
  arguments: [],
  tools: [],
  text: () =>
    'Read countersign://approvals/pending. For each approval, oldest first: say in one plain sentence what will happen, who asked and why, and what could go wrong. Recommend approve, edit or reject with the reason. Do not approve anything yourself; I decide in the inbox.',
};
