import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { columnsOf, nameOf, ResultView } from './result-view.tsx';

const shown = (value: unknown): string => renderToStaticMarkup(createElement(ResultView, { value }));

describe('results', () => {
  it('names fields as words', () => {
    expect(nameOf('scheduled_for')).toBe('Scheduled for');
    expect(nameOf('sessionKey')).toBe('Session key');
    expect(nameOf('tweet_id')).toBe('Tweet ID');
    expect(nameOf('html_url')).toBe('Html URL');
  });

  it('shows plain rows as a table and others as cards', () => {
    const rows = [
      { name: 'a', count: 1 },
      { name: 'b', count: 2 },
    ];
    expect(columnsOf(rows)?.map(({ key, numeric }) => [key, numeric])).toEqual([
      ['name', false],
      ['count', true],
    ]);
    expect(shown(rows)).toContain('<table');
    expect(columnsOf([...rows, { name: 'c', count: 3, more: { deep: 1 } }])).toBeUndefined();
    const cards = shown({ accounts: [{ name: 'a', tags: ['x', 'y'] }] });
    expect(cards).not.toContain('<table');
    expect(cards).toContain('result-card');
  });

  it('has no JSON in the default view, whatever comes', () => {
    const html = shown({
      success: true,
      note: null,
      empty: [],
      nested: { list: [1, 'two', { three: 3 }], text: 'a\nb' },
      created_at: '2026-03-09T10:00:00Z',
    });
    expect(html).not.toMatch(/[{}]|&quot;/);
    expect(html).toContain('<time dateTime="2026-03-09T10:00:00Z"');
    expect(html).toContain('yes');
  });

  it('shows a masked value as masked, and nothing of its hash', () => {
    const masked = { $hash: 'sha256:abc', $salt: 'pepper' };
    const rows = [
      { name: 'a', text: masked },
      { name: 'b', text: masked },
    ];
    for (const html of [shown({ text: masked }), shown(rows), shown({ a: { b: { c: { d: masked } } } })]) {
      expect(html).toContain('masked');
      expect(html).not.toMatch(/salt|hash:|sha256|pepper/i);
    }
    expect(shown(rows)).toContain('<table');
  });

  it('shows markup of others as text', () => {
    expect(shown({ '<b>name</b>': '<img src=x>' })).not.toMatch(/<b>|<img/);
  });

  it('shows a long list in part and says how long it is', () => {
    const html = shown(Array.from({ length: 1200 }, (_, at) => ({ id: at, name: `row ${at}` })));
    expect(html).toContain('Show all 1,200');
    expect(html).not.toContain('row 600');
  });
});
