import { randomBytes } from 'node:crypto';
import { chmod, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { ToolFault } from '../../../contract/faults.ts';
import { makeFolder } from '../../../lib/make-folder.ts';

const tokensSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).optional(),
  expires_at: z.iso.datetime(),
  scopes: z.array(z.string()),
  client_id: z.string(),
  /** When a person signed in; kept through refreshes, so a new sign-in is told from a refresh. */
  authorized_at: z.iso.datetime(),
  user: z.object({ id: z.string(), username: z.string() }).optional(),
});

export type Tokens = z.output<typeof tokensSchema>;

/** The signed-in user's tokens, readable by the owner alone, replaced whole. */
export class TokenFile {
  readonly path: string;

  constructor(dataDir: string) {
    this.path = join(dataDir, 'x-tokens.json');
  }

  async read(): Promise<Tokens | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw new ToolFault('x_not_configured', `The token file ${this.path} cannot be read`, { cause: error });
    }
    const parsed = tokensSchema.safeParse(tryJson(text));
    if (parsed.success) return parsed.data;
    throw new ToolFault(
      'x_not_configured',
      `The token file ${this.path} is damaged; run \`countersign auth x\` again`,
    );
  }

  async write(tokens: Tokens): Promise<void> {
    makeFolder(dirname(this.path), 0o700);
    const draft = `${this.path}.${randomBytes(6).toString('hex')}`;
    try {
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(tokens, undefined, 2)}\n`);
        // A refresh token works once: losing the new one would end the sign-in.
        await file.sync();
      } finally {
        await file.close();
      }
      await chmod(draft, 0o600);
      await rename(draft, this.path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
