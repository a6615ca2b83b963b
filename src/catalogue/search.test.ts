import { describe, expect, it } from 'vitest';
import type { Tool } from '../contract/tool.ts';
import type { BoundTool } from '../contract/toolkit.ts';
import { plain } from './dialect.ts';
import { searchTools } from './search.ts';

const tool = (name: string, summary: string, properties: object = {}): BoundTool => ({
  tool: {
    name,
    title: name,
    summary,
    category: 'server',
    effect: 'read',
    input: { json: { type: 'object', properties } },
  } as unknown as Tool,
  toolkit: { id: name.split('__')[0] ?? '', dialect: plain },
  services: async () => undefined,
});

const tools = [
  tool('fs__read_file', 'Reads the complete content of a file.', { path: { type: 'string' } }),
  tool('fs__write_file', 'Writes content to a file.', { path: {}, content: {} }),
  tool('tickets__create', 'Creates an entry.', {
    assignee: { description: 'Whom to notify by mail.' },
    labels: { items: { properties: { colour: {} } } },
  }),
  tool('mail__send', 'Sends a message to a recipient.', { to: {}, subject: {} }),
  tool(
    'web__fetch',
    'Fetches a page. It can fetch any page, and fetching a page may take long, as pages are long.',
  ),
];
const names = (query: string): string[] => searchTools(tools, query).map((one) => one.tool.name);

describe('searchTools', () => {
  it('finds a tool by its name, its description and its parameters', () => {
    expect(names('readFile')[0]).toBe('fs__read_file');
    expect(names('recipient')).toEqual(['mail__send']);
    expect(names('assignee')).toEqual(['tickets__create']);
    expect(names('colour')).toEqual(['tickets__create']);
    expect(names('notify by mail')).toContain('tickets__create');
  });

  it('ranks a rare word above a common one, and a name above a text', () => {
    expect(names('write file')[0]).toBe('fs__write_file');
    expect(names('mail')[0]).toBe('mail__send');
  });

  it('puts the exact name first and finds nothing for a word that is nowhere', () => {
    expect(names('fs__read_file')[0]).toBe('fs__read_file');
    expect(names('kubernetes')).toEqual([]);
  });

  it('ranks the same words in the same order whatever the order of the tools', () => {
    const reversed = searchTools([...tools].reverse(), 'file').map((one) => one.tool.name);
    expect(reversed).toEqual(names('file'));
  });
});
