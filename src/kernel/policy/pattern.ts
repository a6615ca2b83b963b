const compiled = new Map<string, RegExp>();

/** `x_ads_*` against a name; without a star only the name itself fits. */
export function matchesPattern(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  let expression = compiled.get(pattern);
  if (!expression) {
    const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    expression = new RegExp(`^${parts.join('.*')}$`, 's');
    compiled.set(pattern, expression);
  }
  return expression.test(name);
}
