import type { LinkCollection } from '../documents.ts';
import { answer, type Handler, needUser, ownUser, text, userPage, usersOf } from '../handler.ts';
import { forbidden } from '../problems.ts';

const listing =
  (collection: LinkCollection): Handler =>
  (call) =>
    userPage(call, usersOf(call, call.state.linksFrom(collection, ownUser(call)), 'to'));

const add =
  (collection: LinkCollection, flag: string): Handler =>
  (call) => {
    const own = ownUser(call);
    const target = needUser(call, 'target_user_id');
    if (target.id === own) throw forbidden('You cannot do this to yourself.');
    call.state.link(collection, own, target.id, call.now.toISOString());
    if (collection === 'blocks') {
      call.state.unlink('follows', own, target.id);
      call.state.unlink('follows', target.id, own);
    }
    return answer({ [flag]: true });
  };

const remove =
  (collection: LinkCollection, flag: string): Handler =>
  (call) => {
    call.state.unlink(collection, ownUser(call), text(call, 'target_user_id'));
    return answer({ [flag]: false });
  };

export const moderation = {
  x_v2_mutes_list: listing('mutes'),
  x_v2_mutes_create: add('mutes', 'muting'),
  x_v2_mutes_delete: remove('mutes', 'muting'),
  x_v2_blocks_list: listing('blocks'),
  x_v2_blocks_create: add('blocks', 'blocking'),
  x_v2_blocks_delete: remove('blocks', 'blocking'),
} satisfies Record<string, Handler>;
