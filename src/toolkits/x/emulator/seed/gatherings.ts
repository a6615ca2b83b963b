import type { ConversationDoc, ListDoc, MessageDoc, SpaceDoc } from '../documents.ts';
import { OWN_ID } from './accounts.ts';

const MINUTE_MS = 60_000;
const ago = (now: Date, minutes: number): string =>
  new Date(now.getTime() - minutes * MINUTE_MS).toISOString();

export type Names = (username: string) => string;

/** Lists with their members; followers and pins of the own account. */
export function seedLists(now: Date, id: Names) {
  const lists: ListDoc[] = [
    {
      id: '1500000000000000101',
      name: 'On-call people',
      description: 'They fix it at night',
      private: false,
      owner_id: OWN_ID,
      created_at: ago(now, 90_000),
    },
    {
      id: '1500000000000000102',
      name: 'Indie makers',
      description: 'Small products, real numbers',
      private: false,
      owner_id: OWN_ID,
      created_at: ago(now, 80_000),
    },
    {
      id: '1500000000000000103',
      name: 'Competitors',
      description: 'Quietly watching',
      private: true,
      owner_id: OWN_ID,
      created_at: ago(now, 70_000),
    },
    {
      id: '1500000000000000104',
      name: 'Agents & tools',
      description: 'Protocols and opinions',
      private: false,
      owner_id: id('agnes_ai'),
      created_at: ago(now, 60_000),
    },
    {
      id: '1500000000000000105',
      name: 'SRE voices',
      description: 'Incidents, explained',
      private: false,
      owner_id: id('statuspages'),
      created_at: ago(now, 50_000),
    },
  ];
  const members: Record<string, readonly string[]> = {
    '1500000000000000101': ['priya_observes', 'marcus_ops', 'harold_h', 'kofi_codes', 'latency_lou'],
    '1500000000000000102': ['indie_ines', 'benno_ships', 'lena_learns'],
    '1500000000000000103': ['pingbird'],
    '1500000000000000104': ['tomas_types', 'adamarsh_dev', 'oss_olu'],
    '1500000000000000105': ['adamarsh_dev', 'priya_observes', 'marcus_ops', 'latency_lou'],
  };
  const followers: Record<string, readonly string[]> = {
    '1500000000000000101': ['devrel_dan', 'noor_notes'],
    '1500000000000000102': ['growth_gary'],
    '1500000000000000104': ['adamarsh_dev', 'devrel_dan'],
    '1500000000000000105': ['harold_h'],
  };
  return { lists, members, followers, pinned: ['1500000000000000101'] };
}

export function seedSpaces(now: Date, id: Names, posts: Readonly<Record<string, string>>): SpaceDoc[] {
  const soon = new Date(now.getTime() + 26 * 60 * MINUTE_MS).toISOString();
  return [
    {
      id: '1DXxyRYNejbKM',
      title: 'Office hours: uptime for tiny teams',
      state: 'live',
      creator_id: OWN_ID,
      host_ids: [OWN_ID],
      speaker_ids: [id('priya_observes')],
      created_at: ago(now, 60),
      started_at: ago(now, 35),
      is_ticketed: false,
      lang: 'en',
      participant_count: 42,
      buyer_ids: [],
      post_ids: [posts.hottake ?? '', posts.alternative ?? ''],
    },
    {
      id: '1nAJErpDYgRxL',
      title: 'Postmortems without tears (ticketed)',
      state: 'scheduled',
      creator_id: OWN_ID,
      host_ids: [OWN_ID, id('marcus_ops')],
      speaker_ids: [],
      created_at: ago(now, 3_000),
      scheduled_start: soon,
      is_ticketed: true,
      lang: 'en',
      participant_count: 0,
      buyer_ids: [id('harold_h'), id('lena_learns'), id('kofi_codes')],
      post_ids: [posts.week ?? ''],
    },
    {
      id: '1OyKAVQrgzwGb',
      title: 'Agents, tools and who signs off',
      state: 'live',
      creator_id: id('agnes_ai'),
      host_ids: [id('agnes_ai')],
      speaker_ids: [id('tomas_types'), id('oss_olu')],
      created_at: ago(now, 120),
      started_at: ago(now, 80),
      is_ticketed: false,
      lang: 'en',
      participant_count: 310,
      buyer_ids: [],
      post_ids: [posts.queues ?? ''],
    },
  ];
}

/** Two people's conversation has both ids, the smaller first. */
export const pairId = (a: string, b: string): string => (BigInt(a) < BigInt(b) ? `${a}-${b}` : `${b}-${a}`);

export function seedMessages(
  now: Date,
  id: Names,
): { conversations: ConversationDoc[]; messages: MessageDoc[] } {
  const talk: readonly (readonly [minutes: number, conversation: string, by: string, text: string])[] = [
    [6_000, 'benno_ships', 'benno_ships', 'Hey Ada, does Tidepool do IPv6?'],
    [5_950, 'benno_ships', 'adamarsh_dev', 'Since Tuesday, yes. Want a test account?'],
    [5_940, 'benno_ships', 'benno_ships', 'Please. I will break it politely.'],
    [2_250, 'devrel_dan', 'devrel_dan', 'Following up on the meetup: the 14th or the 21st?'],
    [1_400, 'group', 'adamarsh_dev', 'Thanks for testing the status page, both of you.'],
    [1_380, 'group', 'webdev_wanda', 'Found one more contrast issue, sent as a note.'],
    [1_300, 'group', 'yuki_ux', 'The new layout is calm. Keep it calm.'],
    [210, 'marcus_ops', 'marcus_ops', 'The printer speaks TCP and only TCP. Asking again with feeling.'],
  ];
  const group = '1600000000000000001';
  const idOf = (conversation: string) =>
    conversation === 'group' ? group : pairId(OWN_ID, id(conversation));
  const conversations: ConversationDoc[] = [
    ...['benno_ships', 'devrel_dan', 'marcus_ops'].map((name) => ({
      id: idOf(name),
      type: 'OneToOne' as const,
      participant_ids: [OWN_ID, id(name)],
      created_at: ago(now, 7_000),
    })),
    {
      id: group,
      type: 'Group' as const,
      participant_ids: [OWN_ID, id('webdev_wanda'), id('yuki_ux')],
      created_at: ago(now, 1_410),
    },
  ];
  const messages = talk.map(([minutes, conversation, by, text], index) => ({
    id: (1_895_000_000_000_000_000n + BigInt(index) * 1_000_003n).toString(),
    conversation_id: idOf(conversation),
    event_type: 'MessageCreate' as const,
    sender_id: id(by),
    text,
    created_at: ago(now, minutes),
    media_keys: [],
  }));
  return { conversations, messages };
}
