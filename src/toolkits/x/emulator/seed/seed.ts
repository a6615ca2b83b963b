import { lookup } from '../../../../lib/lookup.ts';
import type { PostDoc } from '../documents.ts';
import { type Change, State } from '../state.ts';
import { FOLLOWS, OWN_ID, seedUsers } from './accounts.ts';
import { RULES, seedAds, seedJobs } from './business.ts';
import { seedLists, seedMessages, seedSpaces } from './gatherings.ts';
import { seedPosts } from './posts.ts';

/** By key of seed/posts.ts. */
const OWN_LIKES = ['alone', 'mirror', 'oneaction', 'queues', 'p99'];
const OWN_BOOKMARKS = ['alone', 'prompts', 'glance'];
const LIKERS: Readonly<Record<string, readonly string[]>> = {
  launch: ['benno_ships', 'priya_observes', 'indie_ines', 'hello_world'],
  first: ['benno_ships', 'indie_ines', 'devrel_dan', 'lena_learns', 'yuki_ux'],
  statuspage: ['webdev_wanda', 'yuki_ux', 'marcus_ops'],
  ask: ['priya_observes', 'marcus_ops'],
  week: ['priya_observes', 'cycling_cem'],
};
const REPOSTERS: Readonly<Record<string, readonly string[]>> = {
  launch: ['benno_ships', 'indie_ines'],
  statuspage: ['webdev_wanda'],
  alone: ['yuki_ux', 'priya_observes'],
};
const OWN_MUTES = ['growth_gary'];
const OWN_BLOCKS = ['spam_sam_4411'];

const MINUTE_MS = 60_000;

/** The world as it is on the first day. The same clock gives the same world. */
export function seedWorld(now: Date): readonly Change[] {
  const state = new State();
  const users = seedUsers(now);
  const idByName = new Map(users.map((user) => [user.username, user.id]));
  const id = (username: string): string => idByName.get(username) ?? '';
  const { posts, byKey } = seedPosts(users, now);
  const post = (key: string): string => lookup(byKey, key) ?? '';
  let minutes = 0;
  const at = () => new Date(now.getTime() - (500_000 - ++minutes) * MINUTE_MS).toISOString();

  state.put('meta', 'meta', { seq: 0, seeded_at: now.toISOString() });
  for (const user of users) {
    state.put('users', user.id, user.id === OWN_ID ? { ...user, pinned_tweet_id: post('launch') } : user);
  }
  for (const each of posts) state.put('posts', each.id, each);
  for (const [from, targets] of Object.entries(FOLLOWS))
    for (const to of targets) state.link('follows', id(from), id(to), at());
  for (const key of OWN_LIKES) state.link('likes', OWN_ID, post(key), at());
  for (const [key, names] of Object.entries(LIKERS))
    for (const name of names) state.link('likes', id(name), post(key), at());
  for (const [key, names] of Object.entries(REPOSTERS))
    for (const name of names) state.link('reposts', id(name), post(key), at());
  for (const key of OWN_BOOKMARKS) state.link('bookmarks', OWN_ID, post(key), at());
  for (const name of OWN_MUTES) state.link('mutes', OWN_ID, id(name), at());
  for (const name of OWN_BLOCKS) state.link('blocks', OWN_ID, id(name), at());

  const { lists, members, followers, pinned } = seedLists(now, id);
  for (const list of lists) state.put('lists', list.id, list);
  for (const [list, names] of Object.entries(members))
    for (const name of names) state.link('list_members', list, id(name), at());
  for (const [list, names] of Object.entries(followers))
    for (const name of names) state.link('list_follows', id(name), list, at());
  for (const list of pinned) state.link('list_pins', OWN_ID, list, at());

  for (const space of seedSpaces(now, id, byKey)) state.put('spaces', space.id, space);
  const { conversations, messages } = seedMessages(now, id);
  for (const conversation of conversations) state.put('conversations', conversation.id, conversation);
  for (const message of messages) state.put('messages', message.id, message);
  for (const rule of RULES) state.put('rules', rule.id, rule);
  for (const job of seedJobs(now)) state.put('jobs', job.id, job);
  for (const [collection, doc] of seedAds(now, byKey)) state.put(collection, doc.id, doc);
  for (const user of users) discountFollows(state, user.id);
  for (const each of posts) discount(state, each, posts);
  return state.changes();
}

/** Seeded counts are totals: what the sandbox holds itself is not counted twice. */
function discount(state: State, post: PostDoc, posts: readonly PostDoc[]): void {
  const { base } = post;
  const less = (total: number, held: number) => Math.max(0, total - held);
  state.put('posts', post.id, {
    ...post,
    base: {
      ...base,
      likes: less(base.likes, state.countTo('likes', post.id)),
      reposts: less(base.reposts, state.countTo('reposts', post.id)),
      replies: less(base.replies, posts.filter((other) => other.in_reply_to === post.id).length),
      quotes: less(base.quotes, posts.filter((other) => other.quotes === post.id).length),
    },
  });
}

function discountFollows(state: State, id: string): void {
  const user = state.get('users', id);
  if (!user) return;
  const { base } = user;
  state.put('users', id, {
    ...user,
    base: {
      ...base,
      followers: Math.max(0, base.followers - state.countTo('follows', id)),
      following: Math.max(0, base.following - state.countFrom('follows', id)),
    },
  });
}
