/** `alpha` of `alpha` or `agent:alpha`: lists print the second form, so commands take both. */
export const agentName = (text: string): string => text.replace(/^agent:/u, '');
