import type { Overrides, PolicyData } from '../../kernel/views/policy-shapes.ts';
import { api } from './api.ts';

/** Changes what was set here, starting from what holds now: another page may have changed it since this one looked. */
export async function changeOverrides(change: (now: Overrides) => Partial<Overrides>): Promise<void> {
  const { overrides } = await api<PolicyData>('/policy');
  await api('/policy', { method: 'PUT', body: { ...overrides, ...change(overrides) } });
}
