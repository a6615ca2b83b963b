/**
 * What a tool does to the world. `propose` files a suggestion and `decide` is a person's decision:
 * neither is routed to approval nor counted by the hourly limit.
 */
export type Effect = 'read' | 'change' | 'destroy' | 'propose' | 'decide';

export type Reach = 'local' | 'network';

/** Changes are what policy judges, limits count and intents precede. */
export const isChange = (effect: Effect): boolean => effect === 'change' || effect === 'destroy';

/** Whatever writes anything is kept out of read-only profiles. */
export const isReadOnly = (effect: Effect): boolean => effect === 'read';
