import { openApp } from '../../src/app/app.ts';
import { serve } from '../../src/daemon/up.ts';
import { soakToolkit } from './toolkit.ts';

/** `countersign up` with the soak's own tools in addition. Run as a child of the soak. */
const app = await openApp({
  env: process.env,
  extraToolkits: [{ id: 'soak', load: async () => soakToolkit }],
});
try {
  await serve(app, { json: false });
} finally {
  await app.close();
}
