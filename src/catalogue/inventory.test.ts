import { describe, expect, it } from 'vitest';
import { noHost, source, tool, toolkit } from './catalogue.fixture.ts';
import { plain } from './dialect.ts';
import { createExposure } from './exposure.ts';
import { catalogueOf, createInventory } from './inventory.ts';

const pens = toolkit('pens', [tool('pen_list'), tool('pen_buy', { effect: 'change' })], {
  brings: ['paper'],
});
const paper = toolkit('paper', [tool('paper_list')]);

describe('the inventory', () => {
  it('connects a toolkit on the first use of its services, once for all its tools', async () => {
    let connected = 0;
    const counting = toolkit('pens', pens.tools, { connect: async () => ++connected });
    const inventory = await createInventory([source(counting)], noHost);
    const [list, buy] = [await inventory.resolve('pen_list'), await inventory.resolve('pen_buy')];
    expect(connected).toBe(0);
    expect(await Promise.all([list?.services(), buy?.services(), list?.services()])).toEqual([1, 1, 1]);
  });

  it('tries a failed connection again', async () => {
    let attempts = 0;
    const flaky = toolkit('pens', pens.tools, {
      async connect() {
        attempts += 1;
        if (attempts === 1) throw new Error('not yet');
        return 'connected';
      },
    });
    const bound = await (await createInventory([source(flaky)], noHost)).resolve('pen_list');
    await expect(bound?.services()).rejects.toThrow('not yet');
    expect(await bound?.services()).toBe('connected');
  });

  it('closes the services of toolkits that connected, and of no others', async () => {
    const closed: unknown[] = [];
    const close = async (services: unknown): Promise<void> => void closed.push(services);
    const inventory = await createInventory(
      [source({ ...pens, close }), source({ ...paper, close })],
      noHost,
    );
    await (await inventory.resolve('paper_list'))?.services();
    await inventory.close();
    expect(closed).toEqual([{ of: 'paper' }]);
  });

  it('refuses two toolkits with a tool of the same name, and names both', async () => {
    const twice = toolkit('more_pens', [tool('pen_list')]);
    await expect(createInventory([source(pens), source(twice)], noHost)).rejects.toThrow(
      'The tool name pen_list is used twice: in pens and in more_pens.',
    );
  });

  it('resolves nothing that the configuration withholds, but still knows its name', async () => {
    const inventory = await createInventory([source(pens)], noHost, new Set(['pen_buy']));
    expect(await inventory.resolve('pen_buy')).toBeUndefined();
    expect((await inventory.resolve('pen_list'))?.toolkit.dialect).toBe(plain);
    expect(inventory.catalogue.map(({ name }) => name)).toEqual(['pen_list', 'pen_buy']);
  });

  it('loads only the toolkit of the name, where the catalogue is known', async () => {
    const loaded: string[] = [];
    const lazy = [pens, paper].map((one) =>
      source(one, {
        catalogue: catalogueOf(one),
        load: async () => {
          loaded.push(one.id);
          return one;
        },
      }),
    );
    const inventory = await createInventory(lazy, noHost);
    expect(await inventory.resolve('nothing')).toBeUndefined();
    expect(loaded).toEqual([]);
    await Promise.all([inventory.resolve('pen_list'), inventory.resolve('pen_buy')]);
    expect(loaded).toEqual(['pens']);
    expect(() => inventory.load('ink')).toThrow('Unknown toolkit "ink". Known: pens, paper.');
  });
});

describe('an exposure', () => {
  const expose = async (
    {
      toolkits = ['pens'],
      profile = 'write' as const,
      discovery = false,
    }: Partial<Parameters<typeof createExposure>[1]>,
    withheld = new Set<string>(),
  ) =>
    createExposure(await createInventory([source(pens), source(paper)], noHost, withheld), {
      toolkits,
      profile,
      discovery,
    });

  it('brings the toolkits that a listed one brings, each once', async () => {
    expect((await expose({})).names).toEqual(['pen_list', 'pen_buy', 'paper_list']);
    expect((await expose({ toolkits: ['paper', 'pens'] })).names).toEqual([
      'paper_list',
      'pen_list',
      'pen_buy',
    ]);
  });

  it('hides what the profile does not have or the configuration withholds, also from calls', async () => {
    const readonly = await expose({ profile: 'readonly' });
    expect(readonly.names).toEqual(['pen_list', 'paper_list']);
    expect(await readonly.find('pen_buy')).toBeUndefined();
    const withheld = await expose({}, new Set(['pen_list']));
    expect(withheld.names).toEqual(['pen_buy', 'paper_list']);
    expect(await withheld.reach('pen_list')).toBeUndefined();
  });

  it('refuses a toolkit that does not exist', async () => {
    await expect(expose({ toolkits: ['ink'] })).rejects.toThrow('Unknown toolkit "ink"');
  });

  it('lists three tools under discovery; others are reached, not found', async () => {
    const exposure = await expose({ discovery: true });
    expect(exposure.names).toEqual(['search_tools', 'describe_tool', 'call_tool']);
    expect(await exposure.find('pen_list')).toBeUndefined();
    expect((await exposure.reach('pen_list'))?.tool.name).toBe('pen_list');
    expect(await exposure.reach('search_tools')).toBeUndefined();
  });
});
