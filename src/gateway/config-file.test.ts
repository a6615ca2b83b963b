import { describe, expect, it } from 'vitest';
import { withoutServer, withServer } from './config-file.ts';

const FILE = `# Mine
mode = "autopilot"   # spaced


[server]
port = 1

# About the log
[log] # here
level = "info"
`;

describe('withServer and withoutServer', () => {
  it('add a table at the end and take it out to the byte', () => {
    const added = withServer(FILE, 'files', { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } });
    expect(added.startsWith(FILE)).toBe(true);
    expect(added).toContain('[servers.files]\ncommand = "npx"');
    expect(withoutServer(added, 'files')).toBe(FILE);
  });

  it('take a table out of the middle and leave the comment of the next one', () => {
    const text = FILE.replace(
      '# About',
      '[servers.a]\nurl = "https://a.example"\n\n[servers.a.headers]\nX = "y"\n\n# About',
    );
    expect(withoutServer(text, 'a')).toBe(FILE);
  });

  it('leave another server with a longer name alone', () => {
    const both = withServer(withServer(FILE, 'a', { command: 'x' }), 'a-b', { command: 'y' });
    expect(withoutServer(both, 'a')).toBe(withServer(FILE, 'a-b', { command: 'y' }));
  });

  it('remove a table however it is written, and touch nothing where another is in the same line', () => {
    expect(withoutServer('servers = { a = { command = "x" } }\n', 'a')).toBe('');
    expect(withoutServer('servers = { a = { command = "x" }, b = {} }\n', 'a')).toBeUndefined();
    const text = '[log]\nlevel = """\n[servers.a]\n"""\n';
    expect(withoutServer(`[servers.a]\ncommand = "x"\n${text}`, 'a')).toBe(text);
  });
});
