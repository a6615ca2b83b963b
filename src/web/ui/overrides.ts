import type { Overrides } from '../../kernel/views/policy-shapes.ts';
import { api, put } from './api.ts';

/** Changes what was set here, starting from what holds now: another page may have changed it since this one looked. */
export async function changeOverrides(change: (now: Overrides) => Partial<Overrides>): Promise<void> {
  const { overrides } = await api('/policy');
  await put('/policy', { ...overrides, ...change(overrides) });
}
