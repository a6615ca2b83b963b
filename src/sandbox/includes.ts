import type { ConversationDoc, JsonDoc, MessageDoc, PostDoc } from './documents.ts';
import { referencesOf, renderMedia, renderPost, renderUser, type Wanted } from './fields.ts';
import type { State } from './state.ts';

/** Collects what `expansions` asks to have beside the data, each once. */
export class Includes {
  readonly #state: State;
  readonly #wanted: Wanted;
  readonly #users = new Set<string>();
  readonly #posts = new Set<string>();
  readonly #media = new Set<string>();

  constructor(state: State, wanted: Wanted) {
    this.#state = state;
    this.#wanted = wanted;
  }

  ofPost(post: PostDoc): void {
    const { expansions } = this.#wanted;
    if (expansions.has('author_id')) this.#users.add(post.author_id);
    if (expansions.has('in_reply_to_user_id') && post.in_reply_to)
      this.user(this.#state.get('posts', post.in_reply_to)?.author_id);
    if (expansions.has('attachments.media_keys')) for (const key of post.media_keys) this.#media.add(key);
    for (const { id } of referencesOf(post)) {
      if (expansions.has('referenced_tweets.id')) this.#posts.add(id);
      if (expansions.has('referenced_tweets.id.author_id'))
        this.user(this.#state.get('posts', id)?.author_id);
    }
  }

  ofMessage(message: MessageDoc): void {
    const { expansions } = this.#wanted;
    if (expansions.has('sender_id')) this.#users.add(message.sender_id);
    if (expansions.has('participant_ids'))
      for (const id of message.participant_ids ?? []) this.#users.add(id);
    if (expansions.has('attachments.media_keys')) for (const key of message.media_keys) this.#media.add(key);
  }

  ofConversation({ participant_ids }: ConversationDoc): void {
    if (this.#wanted.expansions.has('participant_ids')) for (const id of participant_ids) this.#users.add(id);
  }

  user(id: string | undefined): void {
    if (id !== undefined) this.#users.add(id);
  }

  post(id: string | undefined): void {
    if (id !== undefined) this.#posts.add(id);
  }

  /** `{ includes: … }`, or nothing when there is nothing to include. */
  render(): JsonDoc {
    const users = [...this.#users]
      .map((id) => this.#state.get('users', id))
      .filter((user) => user !== undefined);
    const posts = [...this.#posts]
      .map((id) => this.#state.get('posts', id))
      .filter((post) => post !== undefined);
    const media = this.#state.all('media').filter((item) => this.#media.has(item.media_key));
    const includes: JsonDoc = {
      ...(users.length > 0
        ? { users: users.map((user) => renderUser(this.#state, user, this.#wanted)) }
        : {}),
      ...(posts.length > 0
        ? {
            [this.#wanted.newNames ? 'posts' : 'tweets']: posts.map((post) =>
              renderPost(this.#state, post, this.#wanted),
            ),
          }
        : {}),
      ...(media.length > 0 ? { media: media.map(renderMedia) } : {}),
    };
    return Object.keys(includes).length > 0 ? { includes } : {};
  }
}
