import type { PostDoc } from './documents.ts';
import { invalidRequest } from './problems.ts';
import type { State } from './state.ts';

type Test = (post: PostDoc, state: State) => boolean;

/** X's query language: words, "phrases", operators, - to exclude, OR and parentheses; a space means AND. */
export function parseQuery(query: string): Test {
  const tokens = query.match(/-?\(|\)|-?"[^"]*"|[^\s()"]+(?:"[^"]*")?/g) ?? [];
  let at = 0;

  const parseOr = (): Test => {
    const parts = [parseAnd()];
    while (tokens[at] === 'OR') {
      at++;
      parts.push(parseAnd());
    }
    return (post, state) => parts.some((part) => part(post, state));
  };
  const parseAnd = (): Test => {
    const parts: Test[] = [];
    for (let token = tokens[at]; token !== undefined && token !== ')' && token !== 'OR'; token = tokens[at]) {
      at++;
      parts.push(parseOne(token));
    }
    if (parts.length === 0) throw badQuery(query);
    return (post, state) => parts.every((part) => part(post, state));
  };
  const parseOne = (token: string): Test => {
    const excluded = token.startsWith('-') && token.length > 1;
    const text = excluded ? token.slice(1) : token;
    let test: Test;
    if (text === '(') {
      test = parseOr();
      if (tokens[at] !== ')') throw badQuery(query);
      at++;
    } else test = term(text, query);
    return excluded ? (post, state) => !test(post, state) : test;
  };

  const test = parseOr();
  if (at < tokens.length) throw badQuery(query);
  return test;
}

const badQuery = (query: string) =>
  invalidRequest([
    {
      name: 'query',
      value: query,
      message: 'There were errors processing your request: the query is not well-formed',
    },
  ]);

function term(text: string, query: string): Test {
  const operator = /^(\w+):(.+)$/.exec(text);
  if (operator && !text.startsWith('http'))
    return operatorTest(operator[1] ?? '', unquote(operator[2] ?? ''), query);
  if (text.startsWith('"')) {
    const phrase = unquote(text).toLowerCase();
    return (post) => post.text.toLowerCase().includes(phrase);
  }
  if (text.startsWith('#') || text.startsWith('@') || text.startsWith('$')) {
    const tag = new RegExp(`${literally(text)}(?!\\w)`, 'i');
    return (post) => tag.test(post.text);
  }
  const word = new RegExp(`(?<![\\p{L}\\p{N}_])${literally(text)}(?![\\p{L}\\p{N}_])`, 'iu');
  return (post) => word.test(post.text);
}

function operatorTest(name: string, value: string, query: string): Test {
  switch (name) {
    case 'from':
      return (post, state) => isUser(state, post.author_id, value);
    case 'to':
      return (post, state) => isUser(state, state.get('posts', post.in_reply_to ?? '')?.author_id, value);
    case 'retweets_of':
      return (post, state) => isUser(state, state.get('posts', post.reposts ?? '')?.author_id, value);
    case 'conversation_id':
      return (post) => post.conversation_id === value;
    case 'in_reply_to_tweet_id':
      return (post) => post.in_reply_to === value;
    case 'quotes_of_tweet_id':
      return (post) => post.quotes === value;
    case 'lang':
      return (post) => post.lang === value;
    case 'url':
      return (post) => post.text.toLowerCase().includes(value.toLowerCase());
    case 'list':
      return (post, state) => state.linked('list_members', value, post.author_id);
    case 'is':
      return isTest(value, query);
    case 'has':
      return hasTest(value, query);
    default:
      throw badQuery(query);
  }
}

function isTest(value: string, query: string): Test {
  switch (value) {
    case 'reply':
      return (post) => post.in_reply_to !== undefined;
    case 'retweet':
    case 'repost':
      return (post) => post.reposts !== undefined;
    case 'quote':
      return (post) => post.quotes !== undefined;
    case 'verified':
      return (post, state) => state.get('users', post.author_id)?.verified === true;
    default:
      throw badQuery(query);
  }
}

function hasTest(value: string, query: string): Test {
  switch (value) {
    case 'links':
      return (post) => /https?:\/\//.test(post.text);
    case 'hashtags':
      return (post) => /#\w/.test(post.text);
    case 'mentions':
      return (post) => /@\w/.test(post.text);
    case 'media':
    case 'images':
    case 'videos':
      return (post) => post.media_keys.length > 0;
    default:
      throw badQuery(query);
  }
}

const isUser = (state: State, id: string | undefined, nameOrId: string): boolean => {
  const user = id === undefined ? undefined : state.get('users', id);
  return (
    user !== undefined &&
    (user.id === nameOrId || user.username.toLowerCase() === nameOrId.replace(/^@/, '').toLowerCase())
  );
};

const unquote = (text: string): string => text.replace(/^"|"$/g, '');
const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
