import type { SpaceDoc } from '../documents.ts';
import { Includes, renderSpace } from '../fields.ts';
import {
  type Answer,
  answer,
  type Call,
  type Handler,
  list,
  nothing,
  postPage,
  text,
  userPage,
} from '../handler.ts';
import { forbidden, missingResource, noSuchResource } from '../problems.ts';

function needSpace(call: Call): SpaceDoc {
  const space = call.state.get('spaces', text(call, 'id'));
  if (!space) throw noSuchResource('space', 'id', text(call, 'id'));
  return space;
}

function spacesAnswer(
  call: Call,
  spaces: readonly SpaceDoc[],
  errors: ReturnType<typeof missingResource>[] = [],
  counted = true,
): Answer {
  const includes = new Includes(call.state, call.wanted);
  for (const space of spaces) people(call, includes, space);
  const data = spaces.map((space) => renderSpace(space, call.wanted));
  return {
    body: {
      ...(data.length > 0 ? { data } : {}),
      ...includes.render(),
      ...(errors.length > 0 ? { errors } : {}),
      ...(counted ? { meta: { result_count: data.length } } : {}),
    },
  };
}

function people(call: Call, includes: Includes, space: SpaceDoc): void {
  if (call.wanted.expansions.has('creator_id')) includes.user(space.creator_id);
  if (call.wanted.expansions.has('host_ids')) for (const id of space.host_ids) includes.user(id);
  if (call.wanted.expansions.has('speaker_ids')) for (const id of space.speaker_ids) includes.user(id);
}

export const spaces = {
  x_v2_spaces_get: (call) => {
    const space = call.state.get('spaces', text(call, 'id'));
    if (!space) return nothing('space', 'id', text(call, 'id'));
    const includes = new Includes(call.state, call.wanted);
    people(call, includes, space);
    return answer(renderSpace(space, call.wanted), includes.render());
  },
  x_v2_spaces_lookup: (call) => {
    const ids = list(call, 'ids');
    const found = ids.map((id) => call.state.get('spaces', id)).filter((space) => space !== undefined);
    const missing = ids
      .filter((id) => !call.state.get('spaces', id))
      .map((id) => missingResource('space', 'ids', id));
    return spacesAnswer(call, found, missing, false);
  },
  x_v2_spaces_by_creator: (call) => {
    const creators = list(call, 'user_ids');
    return spacesAnswer(
      call,
      call.state
        .all('spaces')
        .filter((space) => space.state !== 'ended' && creators.includes(space.creator_id)),
    );
  },
  x_v2_spaces_search: (call) => {
    const words = text(call, 'query').toLowerCase().split(/\s+/);
    const wanted = call.args.state ?? 'all';
    return spacesAnswer(
      call,
      call.state
        .all('spaces')
        .filter(
          (space) =>
            space.state !== 'ended' &&
            (wanted === 'all' || space.state === wanted) &&
            words.every((word) => space.title.toLowerCase().includes(word)),
        ),
    );
  },
  x_v2_spaces_buyers: (call) => {
    const space = needSpace(call);
    if (space.creator_id !== call.own)
      throw forbidden('Only the creator of a ticketed Space can see its buyers.');
    return userPage(
      call,
      space.buyer_ids.map((id) => call.state.get('users', id)).filter((user) => user !== undefined),
    );
  },
  x_v2_spaces_tweets: (call) =>
    postPage(
      call,
      needSpace(call)
        .post_ids.map((id) => call.state.get('posts', id))
        .filter((post) => post !== undefined),
    ),
} satisfies Record<string, Handler>;
