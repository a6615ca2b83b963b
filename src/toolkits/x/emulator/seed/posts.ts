import { lookup, put } from '../../../../lib/lookup.ts';
import type { PostDoc, UserDoc } from '../documents.ts';

/**
 * One post a line: minutes before the seeding, author, likes/reposts/replies, marks, text. `key` names a post, `re` and
 * `qt` answer and quote one named above, `id` fixes the id of the documented example.
 */
const LINES = `
43000 hello_world 10/5/2 id=1234567890| Hello world
41000 harold_h 64/11/4 | In 1998 our status page was a sticky note on the server room door. It had better uptime than the servers.
38200 adamarsh_dev 41/9/3 key=launch| I am building Tidepool: uptime checks that say what broke in words, not in graphs.
36000 indie_ines 230/12/21 | Month 13: $2,140 MRR, 3 refunds, 1 customer who wrote a thank-you poem. Keeping the poem.
33100 sofia_sql 812/143/26 | Every slow dashboard I was ever asked to fix was one missing index and four meetings.
30500 agnes_ai 540/122/33 key=root| An agent with tools is a junior colleague with root. Decide what it may do before it asks.
28800 benno_ships 690/80/19 | Deleted 4,000 lines today. The product does the same thing. Best release of the year.
26400 adamarsh_dev 118/6/14 key=first| First paying customer. I have looked at the receipt nine times.
25900 yuki_ux 402/61/15 | If your dashboard needs a legend, it needs a redesign.
23000 marcus_ops 310/70/8 | Postmortem rule: name the system, never the person. The person already knows.
21600 tomas_types 150/17/6 | Strict mode found a bug in the code, one in the tests and one in me.
20300 latency_lou 455/92/30 key=p99| Your average latency is a lie you tell investors. Show me p99.
20100 priya_observes 96/8/2 re=p99| @latency_lou p99 is the lie you tell yourself. Show me the user who left.
18700 adamarsh_dev 33/4/2 key=changelog| Small thing I am proud of: Tidepool alerts now say what changed in the last hour. https://tidepool.example/changelog
17200 noor_notes 611/190/44 key=alone| Interviewed 12 on-call engineers. The word that came up most was not "alert". It was "alone".
16900 adamarsh_dev 12/0/1 key=quoteyou re=alone| @noor_notes This is the whole product in one sentence. May I quote you?
16800 noor_notes 5/0/0 re=quoteyou| @adamarsh_dev Please do. The study is public next month.
15500 oss_olu 270/31/9 | Someone opened an issue titled "doesn't work". It was right.
14400 devrel_dan 88/20/61 key=onealert| What is the one monitoring alert you would keep if you could keep only one?
14100 kofi_codes 40/1/2 re=onealert| @devrel_dan Certificate expiry. Every single time it is the certificate.
13950 adamarsh_dev 57/5/3 key=silence re=onealert| @devrel_dan "Nothing has checked in for ten minutes." Silence is the worst alert and the best one.
13400 priya_observes 21/1/1 re=silence| @adamarsh_dev @devrel_dan Heartbeats over health checks. Agreed.
12900 webdev_wanda 505/133/12 | Screen readers do not see your red dot. Write "down" next to it.
12100 lena_learns 77/3/8 | Day 41 of Rust: the compiler and I are on speaking terms again. #rustlang
11500 statuspages 190/44/10 key=weekly| This week in outages: a leap day bug, a very tired switch, and a DNS change that was "just a typo". #sre
11200 adamarsh_dev 28/2/1 qt=weekly| The tired switch deserves its own postmortem.
10900 sofia_sql 350/40/11 | VACUUM is not a personality. But it helps.
10050 agnes_ai 288/66/17 key=prompts| Tool descriptions are prompts. Write them like you pay for every word, because you do. #mcp
9900 tomas_types 122/9/4 qt=prompts| Counting tokens of our tool list: 41k. Brb, deleting adjectives.
9700 benno_ships 18/1/3 key=testtool re=prompts| @agnes_ai How do you test that an agent picks the right tool?
9600 agnes_ai 31/2/0 re=testtool| @benno_ships With a table of questions and the tool you expect. Boring works.
9000 indie_ines 940/88/52 | Raised prices by 40%. Lost nobody. I should have done it a year ago.
8600 marcus_ops 410/77/22 | Friday deploys are fine. Friday migrations are a cry for help.
8050 pingbird 64/14/5 | New: escalation policies with humans in the loop. Your pager thanks you.
7700 cycling_cem 205/19/7 | My home server went down because I unplugged it to charge the bike. Uptime is about priorities.
7200 adamarsh_dev 46/6/5 key=ask| Asking for real: how do you tell your team that the alert at 3am was nothing?
7150 priya_observes 38/3/1 key=oneaction re=ask| @adamarsh_dev We write it in the channel and delete the alert in the same message. One action, not two.
7120 harold_h 25/0/0 re=ask| @adamarsh_dev We used to ring a bell. I miss the bell.
7090 growth_gary 0/0/0 key=spam re=ask| @adamarsh_dev Great question! DM me GROWTH for 10x engagement
6900 adamarsh_dev 9/0/0 re=oneaction| @priya_observes Stealing this. Thank you.
6200 latency_lou 180/20/6 | Cache invalidation is easy if you never cache anything.
5800 noor_notes 260/55/13 key=glance| People do not read dashboards. They glance, and then they ask a colleague.
5750 yuki_ux 144/18/5 qt=glance| Designing for the glance is the job.
5100 lena_learns 92/4/7 key=lenacheck| Day 46 of Rust: wrote an uptime checker as an exercise. It checks one site. It is mine. #rustlang #sre
4900 webdev_wanda 370/71/9 key=mirror| A status page that fails with the site it reports on is a mirror.
4300 adamarsh_dev 51/7/4 key=statuspage qt=mirror| Tidepool now runs its own status page somewhere else entirely. Wanda was right.
4200 webdev_wanda 14/0/1 key=a11y re=statuspage| @adamarsh_dev Love it. Is the page keyboard accessible?
4150 adamarsh_dev 19/1/0 re=a11y| @webdev_wanda It is now. Found two traps while checking.
3600 benno_ships 24/3/9 key=looking| Looking for an uptime monitor that does not need a certification course. What do you use?
3500 pingbird 3/0/0 re=looking| @benno_ships Happy to help! Our starter plan takes two minutes.
3100 kofi_codes 330/48/16 | Our incident channel has 214 members and 3 who know what is going on.
2700 sofia_sql 220/51/5 key=thread1| Thread on why your monitoring table is 400 GB. 1/
2699 sofia_sql 130/9/1 key=thread2 re=thread1| You never delete anything. 2/
2698 sofia_sql 410/22/8 re=thread2| That is the thread. 3/3
2300 devrel_dan 11/1/1 key=meetup| @adamarsh_dev Would you show Tidepool at our online meetup next month? 15 minutes, friendly crowd.
1900 agnes_ai 175/38/12 key=queues| Approval queues are not friction. They are the part of the agent you can show an auditor. #mcp
1500 priya_observes 88/2/6 | Quiet night. Suspicious.
1200 adamarsh_dev 37/3/2 key=week| Week in numbers: 31 sites watched, 4 incidents explained, 1 false alarm (mine).
1100 cycling_cem 2/0/0 re=week| @adamarsh_dev Which one was the false alarm?
900 marcus_ops 7/0/0 key=tcp| @adamarsh_dev do you support plain TCP checks? Asking for a very old printer.
700 lena_learns 6/0/0 | @adamarsh_dev your changelog is the only one I read for fun
480 oss_olu 58/12/3 | If you use uptime monitoring for open source projects for free, say so in your README. Sponsors notice.
300 latency_lou 71/9/14 key=hottake| Hot take: most uptime monitoring tools measure the network of the monitoring tool.
180 indie_ines 19/1/4 key=alternative| What is a good alternative to Pingbird for a team of one? Need uptime monitoring, not a cockpit.
95 yuki_ux 44/6/2 | An error message is a conversation that starts badly. Make the second sentence help.
60 statuspages 33/15/7 | Developing: a large DNS provider reports elevated errors in Europe. #sre
40 hello_world 1/0/0 | @adamarsh_dev hello from the world
25 kofi_codes 21/2/3 | DNS again. It is a lifestyle at this point.
12 tomas_types 14/0/1 | TIL you can type a state machine so well that nobody can use it.
4 benno_ships 9/1/6 key=slow| Is it just me or is half the internet slow right now?
`;

interface Row {
  readonly ago: number;
  readonly by: string;
  readonly counts: readonly number[];
  readonly marks: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

const rows = (): Row[] =>
  LINES.trim()
    .split('\n')
    .map((line) => {
      const cut = line.indexOf('|');
      const [ago = '', by = '', counts = '', ...marks] = line.slice(0, cut).trim().split(' ');
      return {
        ago: Number(ago),
        by,
        counts: counts.split('/').map(Number),
        marks: Object.fromEntries(marks.map((mark) => mark.split('=') as [string, string])),
        text: line.slice(cut + 1).trim(),
      };
    });

/** Older than any id the sandbox gives out, in the order of time. */
const FIRST_ID = 1_890_000_000_000_000_000n;
const MINUTE_MS = 60_000;

export interface SeededPosts {
  readonly posts: readonly PostDoc[];
  readonly byKey: Readonly<Record<string, string>>;
}

export function seedPosts(users: readonly UserDoc[], now: Date): SeededPosts {
  const idOf = new Map(users.map((user) => [user.username, user.id]));
  const posts: PostDoc[] = [];
  const byKey: Record<string, string> = {};
  const find = (key: string | undefined): PostDoc | undefined =>
    key === undefined ? undefined : posts.find((post) => post.id === lookup(byKey, key));
  for (const [index, { ago, by, counts, marks, text }] of rows().entries()) {
    const id = marks.id ?? (FIRST_ID + BigInt(index) * 1_000_003n).toString();
    if (marks.key) put(byKey, marks.key, id);
    const parent = find(marks.re);
    const [likes = 0, reposts = 0, replies = 0] = counts;
    posts.push({
      id,
      author_id: idOf.get(by) ?? '',
      text,
      created_at: new Date(now.getTime() - ago * MINUTE_MS).toISOString(),
      conversation_id: parent?.conversation_id ?? id,
      ...(parent ? { in_reply_to: parent.id } : {}),
      ...(marks.qt ? { quotes: lookup(byKey, marks.qt) ?? '' } : {}),
      lang: 'en',
      hidden: false,
      media_keys: [],
      reply_settings: 'everyone',
      base: { likes, reposts, replies, quotes: 0, impressions: (likes + reposts + replies) * 38 + 17 },
    });
  }
  return { posts, byKey };
}
