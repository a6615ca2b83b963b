import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshHome, type Peer } from '../bench/measure.ts';
import { call, serve, timed } from '../bench/research-peer.ts';
import { RankingMeasures } from './measures.ts';
import type { Evaluated, Item } from './project.ts';

type Ranked = readonly { readonly code_id: number; readonly confidence: number }[];

interface Reply {
  readonly suggestions: Ranked;
  /** Ranked like the rest, but not filed. */
  readonly unlikely?: Ranked;
}

/** The same passages through the built server and a real client, on copies of the project with hidden codings. */
export async function throughMcp(
  { sourceIds, items, without }: Evaluated,
  times: number[],
): Promise<RankingMeasures> {
  const measures = new RankingMeasures();
  for (const sourceId of sourceIds) {
    const { project } = without([sourceId]);
    const path = project.path;
    project.close();
    const home = freshHome();
    writeFileSync(join(home, 'config.toml'), `[research]\nproject = ${JSON.stringify(path)}\n`);
    const peer = await serve(home);
    try {
      for (const item of items.filter((other) => other.sourceId === sourceId))
        measures.add(item, await ask(peer, item, times));
    } finally {
      await peer.close();
    }
  }
  return measures;
}

async function ask(peer: Peer, { sourceId, start, end }: Item, times: number[]) {
  let reply: Reply = { suggestions: [] };
  const args = { source_id: sourceId, start_pos: start, end_pos: end };
  times.push(
    await timed(async () => {
      reply = await call<Reply>(peer, 'suggest_codes_for_range', args);
    }),
  );
  return [...reply.suggestions, ...(reply.unlikely ?? [])].map(({ code_id, confidence }) => ({
    codeId: code_id,
    probability: confidence / 100,
  }));
}
