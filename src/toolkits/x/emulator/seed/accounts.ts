import type { UserDoc } from '../documents.ts';

/** The signed-in account of the sandbox. */
export const OWN_ID = '2001000001';

type Row = readonly [
  id: string,
  username: string,
  name: string,
  description: string,
  followers: number,
  following: number,
  verified?: boolean,
];

/** Made-up people; the last two are those of the documented examples. */
const ROWS: readonly Row[] = [
  [
    OWN_ID,
    'adamarsh_dev',
    'Ada Marsh',
    'Building Tidepool, uptime checks that explain themselves. Likes boats.',
    1840,
    312,
  ],
  ['2001000002', 'benno_ships', 'Benno Falk', 'Ships small tools. Writes about what broke.', 9120, 640, true],
  ['2001000003', 'priya_observes', 'Priya Raman', 'SRE. On call so you are not.', 22450, 410, true],
  ['2001000004', 'tomas_types', 'Tomás Arrieta', 'TypeScript, compilers, bread.', 5310, 980],
  ['2001000005', 'lena_learns', 'Lena Hofer', 'Learning Rust in public, one borrow at a time.', 870, 1204],
  [
    '2001000006',
    'kofi_codes',
    'Kofi Mensah',
    'Backend at a bank. Opinions are mine and cautious.',
    3320,
    501,
  ],
  [
    '2001000007',
    'statuspages',
    'Status Pages Weekly',
    'A newsletter about outages and the people who fix them.',
    41200,
    89,
    true,
  ],
  ['2001000008', 'yuki_ux', 'Yuki Tanabe', 'Designs dashboards nobody has to read twice.', 15800, 733],
  ['2001000009', 'marcus_ops', 'Marcus Webb', 'Infrastructure. Coffee. Postmortems.', 6240, 455],
  [
    '2001000010',
    'indie_ines',
    'Inés Duarte',
    'Solo founder, month 14. Revenue charts and honest numbers.',
    12300,
    902,
    true,
  ],
  ['2001000011', 'harold_h', 'Harold Hines', 'Retired sysadmin. I have seen things.', 640, 210],
  ['2001000012', 'pingbird', 'Pingbird', 'Monitoring for teams. We reply within a day.', 28700, 150, true],
  [
    '2001000013',
    'noor_notes',
    'Noor Haddad',
    'Qualitative researcher. How people really use software.',
    4410,
    688,
  ],
  ['2001000014', 'devrel_dan', 'Dan Okoro', 'Developer relations. Free stickers.', 17600, 2100, true],
  ['2001000015', 'sofia_sql', 'Sofia Lindqvist', 'Postgres, mostly. Indexes, always.', 20100, 365, true],
  ['2001000016', 'cycling_cem', 'Cem Aydın', 'City cycling and small web servers.', 1120, 540],
  ['2001000017', 'growth_gary', 'Gary Gains', '10x your reach!!! DM me GROWTH for the free guide', 310, 4980],
  [
    '2001000018',
    'agnes_ai',
    'Agnes Moreau',
    'Agents, tools, protocols. Reads the spec first.',
    33900,
    477,
    true,
  ],
  ['2001000019', 'oss_olu', 'Olu Adeyemi', 'Maintainer of three libraries you use by accident.', 8700, 320],
  ['2001000020', 'quiet_quinn', 'Quinn Vale', 'Mostly listening.', 95, 130],
  ['2001000021', 'latency_lou', 'Lou Petrov', 'p99 is a feeling.', 14100, 260],
  ['2001000022', 'webdev_wanda', 'Wanda Kim', 'Accessible by default.', 10900, 611],
  ['987654321', 'hello_world', 'Hello World', 'First program, still running.', 512, 64],
  ['3001000001', 'spam_sam_4411', 'Sam', 'crypto airdrop in bio', 4, 2210],
];

const DAY_MS = 86_400_000;

export function seedUsers(now: Date): UserDoc[] {
  return ROWS.map(([id, username, name, description, followers, following, verified = false], index) => ({
    id,
    username,
    name,
    description,
    created_at: new Date(now.getTime() - (400 + index * 97) * DAY_MS).toISOString(),
    verified,
    protected: username === 'quiet_quinn',
    base: {
      followers,
      following,
      posts: 120 + ((index * 379) % 4100),
      listed: Math.floor(followers / 120),
      likes: 300 + ((index * 811) % 9000),
    },
  }));
}

/** Who follows whom, by username. */
export const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  adamarsh_dev: [
    'benno_ships',
    'priya_observes',
    'tomas_types',
    'statuspages',
    'yuki_ux',
    'indie_ines',
    'sofia_sql',
    'agnes_ai',
    'latency_lou',
    'webdev_wanda',
    'oss_olu',
    'hello_world',
  ],
  benno_ships: ['adamarsh_dev', 'priya_observes', 'indie_ines', 'agnes_ai'],
  priya_observes: ['adamarsh_dev', 'latency_lou', 'statuspages', 'marcus_ops'],
  tomas_types: ['adamarsh_dev', 'lena_learns', 'oss_olu'],
  lena_learns: ['adamarsh_dev', 'tomas_types', 'oss_olu', 'webdev_wanda'],
  kofi_codes: ['sofia_sql', 'statuspages'],
  yuki_ux: ['adamarsh_dev', 'noor_notes', 'webdev_wanda'],
  marcus_ops: ['adamarsh_dev', 'priya_observes', 'harold_h'],
  indie_ines: ['adamarsh_dev', 'benno_ships', 'devrel_dan'],
  harold_h: ['statuspages', 'marcus_ops'],
  noor_notes: ['yuki_ux', 'agnes_ai'],
  devrel_dan: ['adamarsh_dev', 'agnes_ai', 'indie_ines'],
  sofia_sql: ['latency_lou'],
  cycling_cem: ['adamarsh_dev'],
  growth_gary: ['adamarsh_dev', 'indie_ines', 'benno_ships', 'devrel_dan'],
  agnes_ai: ['tomas_types', 'oss_olu'],
  quiet_quinn: ['adamarsh_dev'],
  hello_world: ['adamarsh_dev'],
  spam_sam_4411: ['adamarsh_dev'],
};
