import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linksIn, linksOnlyTo } from './links.ts';

describe('links in a text', () => {
  it.each<[string, (string | null)[]]>([
    ['no link, 3.5 times as fast, e.g. here', []],
    ['see https://acme.dev/x?y now', ['acme.dev']],
    ['http://acme.dev', ['acme.dev']],
    ['see acme.dev', ['acme.dev']],
    ['acme.dev:8080/x, or a.b.acme.dev?x', ['acme.dev', 'a.b.acme.dev']],
    ['acme.dev/to/evil.example#x', ['acme.dev']],
    ['https://acme.dev/to/evil.example', ['acme.dev']],
    ['(evil.example)', ['evil.example']],
    ['1password.example and a-1.example', ['1password.example', 'a-1.example']],
    ['bücher.example', ['xn--bcher-kva.example']],
    ['ｅｖｉｌ．ｅｘａｍｐｌｅ', ['evil.example']],
    ['HTTPS://EVIL.EXAMPLE', ['evil.example']],
    ['ada@acme.dev', ['acme.dev']],
    ['x_acme.dev', ['acme.dev']],
    ['evil.com.5', ['evil.com']],
    ['10.0.0.1 and 10.0.0.256 and 1.2.3', ['10.0.0.1']],
    ['https://2130706433/ https://0x7f.1', ['127.0.0.1']],
    ['https://[::1]/', [null]],
    ['https://ada@acme.dev', [null, 'acme.dev']],
    ['ftp://acme.dev', [null, 'acme.dev']],
    ['a+b.c-1://acme.dev', [null, 'acme.dev']],
    ['https://acme.dev:port', ['acme.dev']],
    ['https: and // are marks; C:/x, a:b and data: too', []],
    ['javascript:alert(1)', [null]],
    ['[x](steam:run) <steam:run> <a href=steam:run>', [null]],
    ['<mailto:ada@acme.dev>', ['acme.dev']],
    ['evil&period;example', ['evil.example']],
    ['&efr;vil', [null]],
    ['R&D, a &amp; b &#8211; c', []],
    ['https://acme.dev/?u=https://evil.com', ['acme.dev', 'evil.com']],
    ['https://acme.dev//evil.com', ['acme.dev', 'evil.com']],
    [`https://${'a'.repeat(400)}@evil.com`, [null, 'evil.com']],
    ['a.de '.repeat(501), ['a.de', null]],
    ['a.de '.repeat(500), ['a.de']],
    ['https:x '.repeat(501), ['x', null]],
  ])('of %j are %j', (text, hosts) => {
    expect(linksIn(text)).toEqual(hosts);
  });

  it('lead to a host only when it is the same, in whatever script it was written', () => {
    expect(linksOnlyTo('https://bücher.example', ['BÜCHER.example'])).toBe(true);
    expect(linksOnlyTo('https://xn--bcher-kva.example', ['bücher.example'])).toBe(true);
    expect(linksOnlyTo('https://sub.acme.dev', ['acme.dev'])).toBe(false);
    for (const host of ['acme.dev/path', 'x@acme.dev', 'acme.dev:8080', 'https://acme.dev', ''])
      expect(linksOnlyTo('https://acme.dev/', [host])).toBe(false);
  });
});

const HOSTS = [
  'evil.com',
  'evil.example',
  'acme.dev.evil.com',
  'notacme.dev',
  'acme.device',
  'evil-acme.dev',
];
const INVISIBLE = ['\u200b', '\u200d', '\u2060', '\u00ad', '\ufeff', '\u034f', '\ufe0f', '\u0000', '\u202e'];

/** One host as it may be written where only a browser reads it. */
const written = fc
  .tuple(fc.constantFrom(...HOSTS), fc.nat(), fc.constantFrom(...INVISIBLE))
  .chain(([host, at, hidden]) => {
    const place = at % host.length;
    const percent = `%${host.charCodeAt(place).toString(16)}`;
    return fc.constantFrom(
      host,
      host.toUpperCase(),
      `${host}.`,
      host.replaceAll('.', '。'),
      host.replaceAll('.', '｡'),
      host.replace(/[a-z.]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
      `${host.slice(0, place)}${hidden}${host.slice(place)}`,
      `${host.slice(0, place)}${percent}${host.slice(place + 1)}`,
      `${host.slice(0, place)}&#${host.charCodeAt(place)};${host.slice(place + 1)}`,
      `${host.slice(0, place)}&#x${host.charCodeAt(place).toString(16)}${host.slice(place + 1).replace(/^(?=[0-9a-f])/i, ';')}`,
      host.replaceAll('.', '&period;'),
      host.replaceAll('.', '\\.'),
    );
  });

const address = fc
  .tuple(
    fc.constantFrom(
      'https://',
      'HTTPS://',
      'http://',
      'hTTp:\\\\',
      'https:/',
      'https:',
      'https:\\/\\/',
      '//',
      'https&colon;//',
      'https\\://',
      'h\u200bttps://',
      'ftp://',
    ),
    fc.constantFrom(
      '',
      '',
      '',
      'acme.dev@',
      'acme.dev:443@',
      'acme.dev,x@',
      'https:acme.dev)@',
      'acme.dev／@',
    ),
    fc.oneof(written, fc.constantFrom('2130706433', '0x7f000001', '127.1', '[::1]', 'evil')),
    fc.constantFrom('', '/', '/x', ':8080/x', '?x', '#acme.dev'),
  )
  .map((parts) => parts.join(''));
/** Services link a name with dots, too, where nothing before it belongs to the same link. */
const bare = fc.constantFrom(
  ...HOSTS,
  ...HOSTS.map((host) => `www.${host}`),
  'evil。com',
  '192.168.0.1',
  'ada@evil.com',
);

const GLUE = [
  ' ',
  '\n',
  '\t',
  '"',
  "'",
  '`',
  ',',
  ';',
  '|',
  ')',
  ']',
  '}',
  '>',
  '<',
  '(',
  '\\',
  '*',
  '…',
  '\u200b',
  '\u2028',
];
const ALLOWED = [
  'https://acme.dev/',
  'https://acme.dev',
  'acme.dev/x',
  '[a](https://acme.dev/)',
  '<https://acme.dev/|x>',
];
const holder = (target: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    target,
    `[login](${target})`,
    `[login](<${target}> "acme.dev")`,
    `[acme.dev]: ${target}`,
    `![](${target})`,
    `<a href="${target}">acme.dev</a>`,
    `<a href='${target}'>acme.dev</a>`,
    `<a href=${target}>`,
    `<a href="${target.slice(0, 3)}\n${target.slice(3)}">`,
    `<${target}>`,
    `<${target}|acme.dev>`,
    `\`${target}\``,
    `"${target}"`,
    `(${target}),`,
    `_${target}_`,
  );
const hostile = fc
  .tuple(
    fc.oneof(address, bare),
    fc.constantFrom(...GLUE),
    fc.constantFrom('', ...ALLOWED),
    fc.constantFrom('', ' acme.dev', ', https://acme.dev/'),
  )
  .chain(([target, glue, before, after]) =>
    holder(target).map((held) => `See ${before}${glue}${held}${after}`),
  );

/** Words without dots, with the marks of prose. */
const prose = fc
  .array(
    fc.constantFrom(
      'Hello',
      'World!',
      'größer',
      '3.5',
      '10:30',
      'e.g.',
      'and/or',
      '日本語。',
      '❤️',
      'A & B',
      '(so)',
      '“so”',
      'it’s',
      '—',
      '50%',
    ),
    { maxLength: 6 },
  )
  .map((words) => words.join(' '));
const honestLink = fc.constantFrom(
  'https://acme.dev',
  'https://acme.dev/a/report.pdf?x=1&y=2#part',
  'http://ACME.DEV/x',
  'acme.dev',
  'acme.dev/x',
  'https://acme.dev:8443/x',
  'ada@acme.dev',
);
const honest = fc
  .tuple(prose, honestLink, prose)
  .chain(([before, link, after]) =>
    fc
      .constantFrom(
        link,
        `(${link})`,
        `${link},`,
        `${link}.`,
        `${link}!`,
        `“${link}”`,
        `"${link}"`,
        `**${link}**`,
        `\`${link}\``,
        `[a](${link})`,
        `<${link}|a>`,
        `<a href="${link}">`,
      )
      .map((held) => `${before} ${held} ${after}`),
  );

describe('a text with links', () => {
  it('is never covered when some reading of it leads elsewhere', () => {
    fc.assert(
      fc.property(hostile, (text) => !linksOnlyTo(text, ['acme.dev'])),
      { numRuns: 2_000 },
    );
  });

  it('is covered when it is plain and leads only to allowed hosts', () => {
    fc.assert(
      fc.property(fc.array(honest, { maxLength: 5 }), (texts) => linksOnlyTo(texts.join('\n'), ['acme.dev'])),
      { numRuns: 500 },
    );
  });
});
