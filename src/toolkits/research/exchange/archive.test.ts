import { describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { Archive } from './archive.ts';
import { decodeText } from './report.ts';
import { childOf, element, parseXml, textElement } from './xml.ts';

const zip = async (fill: (file: InstanceType<typeof yazl.ZipFile>) => void): Promise<Buffer> => {
  const file = new yazl.ZipFile();
  fill(file);
  file.end();
  const parts: Buffer[] = [];
  for await (const part of file.outputStream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

/** Writes another name of the same length over an entry's, as a hostile program would. */
const rename = (archive: Buffer, from: string, to: string): Buffer => {
  const changed = Buffer.from(archive);
  for (let at = changed.indexOf(from); at !== -1; at = changed.indexOf(from, at + 1)) changed.write(to, at);
  return changed;
};

describe('an archive from a stranger', () => {
  it('is read by name, regardless of capitals', async () => {
    const archive = await Archive.open(
      await zip((file) => file.addBuffer(Buffer.from('hello'), 'Sources/a.txt')),
    );
    const name = archive.find('sources/A.txt');
    expect(name).toBe('Sources/a.txt');
    expect(Buffer.from(await archive.read(name ?? '')).toString()).toBe('hello');
    archive.close();
  });

  it.each([
    ['../../../etc/passwd1', /leaves the archive/],
    ['/absolute/file/name1', /leaves the archive/],
    ['C:\\windows\\system321', /leaves the archive/],
    ['..\\..\\windows\\name1', /leaves the archive/],
  ])('is refused when it names %s', async (bad, why) => {
    const harmless = 'x'.repeat(bad.length);
    const archive = rename(await zip((file) => file.addBuffer(Buffer.from('x'), harmless)), harmless, bad);
    await expect(Archive.open(archive)).rejects.toThrow(why);
  });

  it('is refused when it holds a symbolic link', async () => {
    const link = await zip((file) => file.addBuffer(Buffer.from('/etc/passwd'), 'link', { mode: 0o120777 }));
    await expect(Archive.open(link)).rejects.toThrow(/symbolic link/);
  });

  it('is refused when it is a bomb', async () => {
    const bomb = await zip((file) => file.addBuffer(Buffer.alloc(60_000_000), 'zeros'));
    await expect(Archive.open(bomb)).rejects.toThrow(/ZIP bomb/);
    const many = await zip((file) => {
      for (let i = 0; i < 30; i += 1) file.addBuffer(Buffer.from('x'), `f${i}`);
    });
    await expect(Archive.open(many, { entries: 20, total: 1000, ratio: 100 })).rejects.toThrow(
      /more than 20 files/,
    );
    await expect(Archive.open(many, { entries: 99, total: 20, ratio: 100 })).rejects.toThrow(
      /more than 20 bytes/,
    );
  });

  it('is refused when it holds one name twice', async () => {
    const twice = rename(
      await zip((file) => {
        file.addBuffer(Buffer.from('x'), 'aaa');
        file.addBuffer(Buffer.from('y'), 'bbb');
      }),
      'bbb',
      'aaa',
    );
    await expect(Archive.open(twice)).rejects.toThrow(/two files named/);
  });

  it('is refused when it is no archive or cut short', async () => {
    await expect(Archive.open(Buffer.from('no zip'))).rejects.toThrow(/not a ZIP archive/);
    const whole = await zip((file) => file.addBuffer(Buffer.from('x'.repeat(1000)), 'a'));
    await expect(Archive.open(whole.subarray(0, 60))).rejects.toThrow(/not a ZIP archive/);
  });

  it('gives an error, not endless data, when an entry is larger than announced', async () => {
    const body = Buffer.from('abcdefghij'.repeat(100));
    const archive = await zip((file) => file.addBuffer(body, 'a', { compress: true }));
    // The announced size stands in the central directory; make it smaller there.
    const central = archive.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
    archive.writeUInt32LE(10, central + 24);
    const opened = await Archive.open(archive);
    await expect(opened.read('a')).rejects.toThrow(/damaged or larger/);
    opened.close();
  });
});

describe('XML from a stranger', () => {
  it('is read with its order, numeric references and white space', async () => {
    const root = await parseXml(
      '<?xml version="1.0"?><q:A xmlns:q="urn:x" n="a&#10;b &amp; &#x1F600;"><q:B> x<![CDATA[<y>]]></q:B><!-- <z> --></q:A>',
      'It',
    );
    expect(root).toMatchObject({ name: 'A', attributes: { n: 'a\nb & 😀' } });
    expect(childOf(root, 'B')?.text).toBe(' x<y>');
  });

  it.each([
    [
      'a DTD with entities',
      '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">]><a>&lol;</a>',
      /document type definition/,
    ],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /document type definition/],
    ['a hundred levels', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, /nested more than 64/],
    ['an open tag', '<a><b', /not closed/],
    ['crossed tags', '<a><b></a></b>', /not well-formed/],
    ['nothing', '', /./],
  ])('is refused with %s', async (_, text, why) => {
    await expect(parseXml(text, 'project.qde')).rejects.toThrow(why);
  });

  it('takes a hundred levels inside a comment, CDATA or an attribute as text', async () => {
    const levels = '<a>'.repeat(100);
    const root = await parseXml(
      `<r n="${levels.replaceAll('<', '&lt;')}>"><!--${levels}--><![CDATA[${levels}]]></r>`,
      'It',
    );
    expect(root.text).toBe(levels);
  });
});

describe('written XML', () => {
  it('comes back as it was, except for characters XML does not have', async () => {
    const text = 'a<b>&"c"\'\r\n\t 😀 \u2029';
    const root = await parseXml(
      element('A', { n: text, none: undefined }, [textElement('B', text), textElement('C', '')]),
      'It',
    );
    expect(root.attributes).toEqual({ n: text });
    expect(root.children).toHaveLength(1);
    expect(childOf(root, 'B')?.text).toBe(text);
    expect((await parseXml(textElement('A', 'a\u0000b\u000b\ud83d'), 'It')).text).toBe(
      'a\ufffdb\ufffd\ufffd',
    );
  });
});

describe('the encoding of a text', () => {
  it.each([
    ['UTF-8', Buffer.from('Grüße 😀'), 'utf-8', false],
    ['UTF-8 with a mark', Buffer.from('\ufeffGrüße 😀'), 'utf-8', true],
    ['UTF-16 LE with a mark', Buffer.from('\ufeffGrüße 😀', 'utf16le'), 'utf-16le', true],
    ['UTF-16 BE with a mark', Buffer.from('\ufeffGrüße 😀', 'utf16le').swap16(), 'utf-16be', true],
    ['UTF-16 without a mark', Buffer.from('Grüße 😀', 'utf16le'), 'utf-16le', false],
    ['Windows-1252', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'windows-1252', false],
  ])('is found for %s', (_, bytes, encoding, bom) => {
    const decoded = decodeText(bytes);
    expect(decoded).toMatchObject({ encoding, bom });
    expect(decoded.text.replace('\ufeff', '')).toMatch(/^Grüße/);
  });
});
