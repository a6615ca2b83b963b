/** A rule was edited after this call was judged: it is judged again under the new one. */
export class PolicyStale extends Error {}
