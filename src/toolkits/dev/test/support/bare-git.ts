import { execFileSync } from 'node:child_process';

/** git on a bare repository, as a forge runs it. */
export function bareGit(bare: string) {
  const run = (args: string[], input?: string | Buffer, env: Record<string, string> = {}): Buffer =>
    execFileSync('git', [`--git-dir=${bare}`, ...args], {
      input: input ?? '',
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  const text = (args: string[], input?: string | Buffer, env?: Record<string, string>): string =>
    run(args, input, env).toString().trim();
  const maybe = (args: string[]): string | undefined => {
    try {
      return text(args);
    } catch {
      return undefined;
    }
  };
  const branch = (name: string): string | undefined =>
    maybe(['rev-parse', '--verify', '--quiet', `refs/heads/${name}`]);
  return { run, text, maybe, branch };
}
