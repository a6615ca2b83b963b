import { lookup } from '../../../../lib/lookup.ts';
import { type ListDoc, nextId } from '../documents.ts';
import { Includes, renderList } from '../fields.ts';
import {
  type Answer,
  answer,
  type Call,
  type Handler,
  needUser,
  nothing,
  ownUser,
  paginate,
  pick,
  postPage,
  text,
  userPage,
  usersOf,
} from '../handler.ts';
import { forbidden, invalidRequest, noSuchResource } from '../problems.ts';
import { timeline } from './posts.ts';

/** Private lists exist for their owner only. */
const visible = (call: Call, list: ListDoc | undefined): ListDoc | undefined =>
  list && (!list.private || list.owner_id === call.own) ? list : undefined;

function needList(call: Call, name: string): ListDoc {
  const id = text(call, name);
  const list = visible(call, call.state.get('lists', id));
  if (!list) throw noSuchResource('list', lookup(call.endpoint.params, name)?.wire ?? name, id);
  return list;
}

function ownList(call: Call): ListDoc {
  const list = needList(call, 'id');
  if (list.owner_id !== call.own) throw forbidden('You are not allowed to change this List.');
  return list;
}

function listPage(call: Call, lists: readonly ListDoc[], paged = true): Answer {
  const shown = lists.filter((list) => visible(call, list));
  const { items, meta } = paginate(call, shown, (list) => list.id);
  const includes = new Includes(call.state, call.wanted);
  if (call.wanted.expansions.has('owner_id')) for (const list of items) includes.user(list.owner_id);
  const data = items.map((list) => renderList(call.state, list, call.wanted));
  return {
    body: {
      ...(data.length > 0 ? { data } : {}),
      ...includes.render(),
      meta: pick(meta, paged ? ['result_count', 'next_token', 'previous_token'] : ['result_count']),
    },
  };
}

const listsOf = (call: Call, ids: readonly string[]): ListDoc[] =>
  ids.map((id) => call.state.get('lists', id)).filter((list) => list !== undefined);

export const lists = {
  x_v2_lists_get: (call) => {
    const list = visible(call, call.state.get('lists', text(call, 'id')));
    if (!list) return nothing('list', 'id', text(call, 'id'));
    const includes = new Includes(call.state, call.wanted);
    if (call.wanted.expansions.has('owner_id')) includes.user(list.owner_id);
    return answer(renderList(call.state, list, call.wanted), includes.render());
  },
  x_v2_lists_create: (call) => {
    const id = nextId(call.state, call.now);
    const name = text(call, 'name');
    call.state.put('lists', id, {
      id,
      name,
      description: text(call, 'description'),
      private: call.args.private === true,
      owner_id: call.own,
      created_at: call.now.toISOString(),
    });
    return { status: 201, body: { data: { id, name } } };
  },
  x_v2_lists_update: (call) => {
    const list = ownList(call);
    const { name, description, private: hidden } = call.args;
    if (name === undefined && description === undefined && hidden === undefined) {
      throw invalidRequest([
        { name: 'name', value: '', message: 'At least one of name, description and private is required' },
      ]);
    }
    call.state.put('lists', list.id, {
      ...list,
      ...(name === undefined ? {} : { name: String(name) }),
      ...(description === undefined ? {} : { description: String(description) }),
      ...(hidden === undefined ? {} : { private: hidden === true }),
    });
    return answer({ updated: true });
  },
  x_v2_lists_delete: (call) => {
    const list = ownList(call);
    for (const link of call.state.linksFrom('list_members', list.id))
      call.state.unlink('list_members', list.id, link.to);
    for (const link of call.state.linksTo('list_follows', list.id))
      call.state.unlink('list_follows', link.from, list.id);
    for (const link of call.state.linksTo('list_pins', list.id))
      call.state.unlink('list_pins', link.from, list.id);
    call.state.remove('lists', list.id);
    return answer({ deleted: true });
  },
  x_v2_lists_members: (call) =>
    userPage(call, usersOf(call, call.state.linksFrom('list_members', needList(call, 'id').id), 'to')),
  x_v2_lists_members_add: (call) => {
    const list = ownList(call);
    call.state.link('list_members', list.id, needUser(call, 'user_id').id, call.now.toISOString());
    return answer({ is_member: true });
  },
  x_v2_lists_members_remove: (call) => {
    call.state.unlink('list_members', ownList(call).id, text(call, 'target_user_id'));
    return answer({ is_member: false });
  },
  x_v2_lists_followers: (call) =>
    userPage(call, usersOf(call, call.state.linksTo('list_follows', needList(call, 'id').id), 'from')),
  x_v2_lists_tweets: (call) => {
    const { id } = needList(call, 'id');
    return postPage(
      call,
      timeline(call, (post) => call.state.linked('list_members', id, post.author_id)),
    );
  },
  x_v2_lists_owned: (call) => {
    const { id } = needUser(call, 'user_id');
    return listPage(
      call,
      call.state.all('lists').filter((list) => list.owner_id === id),
    );
  },
  x_v2_lists_memberships: (call) =>
    listPage(
      call,
      listsOf(
        call,
        call.state.linksTo('list_members', needUser(call, 'user_id').id).map((link) => link.from),
      ),
    ),
  x_v2_lists_pinned: (call) =>
    listPage(
      call,
      listsOf(
        call,
        call.state.linksFrom('list_pins', ownUser(call)).map((link) => link.to),
      ),
      false,
    ),
  x_v2_lists_pin: (call) => {
    call.state.link('list_pins', ownUser(call), needList(call, 'list_id').id, call.now.toISOString());
    return answer({ pinned: true });
  },
  x_v2_lists_follow: (call) => {
    call.state.link('list_follows', ownUser(call), needList(call, 'list_id').id, call.now.toISOString());
    return answer({ following: true });
  },
  x_v2_lists_unfollow: (call) => {
    call.state.unlink('list_follows', ownUser(call), text(call, 'list_id'));
    return answer({ following: false });
  },
} satisfies Record<string, Handler>;
