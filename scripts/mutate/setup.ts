import { inject } from 'vitest';

// A thread that is kept still has the mutant of the run before; nothing of it may be active while the tests are collected.
const { __stryker__: state } = globalThis as { __stryker__?: { activeMutant?: string } };
if (state && inject('mutantActivation' as never) !== 'static') state.activeMutant = undefined;
