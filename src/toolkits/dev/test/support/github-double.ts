import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bareGit } from './bare-git.ts';
import {
  type Answer,
  type Body,
  type GithubDouble,
  type Pull,
  paged,
  Refusal,
  type Text,
} from './github-shapes.ts';

/**
 * The part of GitHub's API that the toolkit uses, over a real bare repository: unlike a general emulator it refuses
 * what GitHub refuses (double pull requests, missing heads, bad objects) and can lose answers on purpose.
 */
export async function startGithub(bare: string, fullName = 'acme/app'): Promise<GithubDouble> {
  const { run, text, maybe, branch } = bareGit(bare);
  const require = (sha: string | undefined): string => {
    if (!sha) throw new Refusal(404, 'Not Found');
    return sha;
  };
  let last = 0;
  const user = { login: 'octocat', type: 'User' };
  const showPull = (pull: Pull) => ({
    ...pull,
    html_url: `https://github.test/${fullName}/pull/${pull.number}`,
    merged: false,
    mergeable: null,
    changed_files: (double.files?.() ?? diff(pull)).length + double.hiddenFiles,
    base: { ref: pull.base, sha: pull.baseSha },
    head: { ref: pull.head, sha: branch(pull.head) ?? '' },
    user,
    author_association: 'MEMBER',
    created_at: new Date().toISOString(),
  });
  const showText = (issue: Text) => ({
    ...issue,
    title: issue.title ?? '',
    state: 'open',
    html_url: `https://github.test/${fullName}/issues/${issue.number}`,
    user,
    author_association: 'NONE',
    created_at: issue.at,
  });
  const diff = (pull: Pull) =>
    text(['diff-tree', '-r', '--name-status', pull.baseSha, require(branch(pull.head))])
      .split('\n')
      .map((line) => ({
        filename: line.split('\t')[1],
        status: line.startsWith('A') ? 'added' : 'modified',
        additions: 1,
        deletions: 0,
        changes: 1,
        blob_url: 'b',
        raw_url: 'r',
        patch: '@@',
      }));
  const find = (number: string | undefined): Pull => {
    const pull = double.pulls.find((each) => each.number === Number(number));
    if (!pull) throw new Refusal(404, 'Not Found');
    return pull;
  };

  const ROUTES: [
    method: string,
    path: RegExp,
    serve: (match: string[], body: Body, query: URLSearchParams) => Answer,
  ][] = [
    ['GET', /^$/, () => [200, { default_branch: 'main', full_name: fullName }]],
    ['GET', /^\/git\/ref\/heads\/(.+)$/, ([name = '']) => [200, { object: { sha: require(branch(name)) } }]],
    [
      'GET',
      /^\/git\/commits\/(\w+)$/,
      ([sha = '']) => {
        const [tree = '', parents = '', ...message] = text([
          'show',
          '-s',
          '--format=%T%n%P%n%B',
          require(maybe(['rev-parse', '--verify', `${sha}^{commit}`])),
        ]).split('\n');
        return [
          200,
          {
            sha,
            tree: { sha: tree },
            parents: parents
              .split(' ')
              .filter(Boolean)
              .map((id) => ({ sha: id })),
            message: message.join('\n'),
          },
        ];
      },
    ],
    [
      'GET',
      /^\/git\/trees\/(\w+)$/,
      ([sha = '']) => [
        200,
        {
          truncated: false,
          tree: run(['ls-tree', '-z', '-l', sha])
            .toString()
            .split('\0')
            .filter(Boolean)
            .map((line) => {
              const [meta = '', path] = line.split('\t');
              const [mode, type, id, size] = meta.split(/ +/);
              return { path, mode, type, sha: id, ...(size === '-' ? {} : { size: Number(size) }) };
            }),
        },
      ],
    ],
    [
      'GET',
      /^\/git\/blobs\/(\w+)$/,
      ([sha = '']) => [
        200,
        { content: run(['cat-file', 'blob', sha]).toString('base64'), encoding: 'base64' },
      ],
    ],
    [
      'POST',
      /^\/git\/blobs$/,
      (_m, body) => [
        201,
        { sha: text(['hash-object', '-w', '--stdin'], Buffer.from(String(body.content), 'base64')) },
      ],
    ],
    [
      'POST',
      /^\/git\/trees$/,
      (_m, body) => {
        const index = { GIT_INDEX_FILE: `${bare}/double-index` };
        run(['read-tree', String(body.base_tree)], undefined, index);
        const entries = body.tree as { path: string; mode: string; sha: string | null }[];
        run(
          ['update-index', '-z', '--index-info'],
          // A null id takes the path out of the tree.
          entries
            .map((e) =>
              e.sha === null ? `0 ${'0'.repeat(40)}\t${e.path}\0` : `${e.mode} ${e.sha}\t${e.path}\0`,
            )
            .join(''),
          index,
        );
        return [201, { sha: text(['write-tree'], undefined, index) }];
      },
    ],
    [
      'POST',
      /^\/git\/commits$/,
      (_m, body) => {
        const parents = (body.parents as string[]).flatMap((parent) => ['-p', parent]);
        const who = {
          GIT_AUTHOR_NAME: 'o',
          GIT_AUTHOR_EMAIL: 'o@x',
          GIT_COMMITTER_NAME: 'o',
          GIT_COMMITTER_EMAIL: 'o@x',
        };
        return [
          201,
          { sha: text(['commit-tree', String(body.tree), ...parents], String(body.message), who) },
        ];
      },
    ],
    [
      'POST',
      /^\/git\/refs$/,
      (_m, body) => {
        const ref = String(body.ref);
        if (maybe(['rev-parse', '--verify', '--quiet', ref]))
          throw new Refusal(422, 'Reference already exists');
        run(['update-ref', ref, String(body.sha)]);
        return [201, { ref, object: { sha: body.sha } }];
      },
    ],
    [
      'PATCH',
      /^\/git\/refs\/heads\/(.+)$/,
      ([name = ''], body) => {
        const before = require(branch(name));
        if (maybe(['merge-base', '--is-ancestor', before, String(body.sha)]) === undefined)
          throw new Refusal(422, 'Update is not a fast forward');
        run(['update-ref', `refs/heads/${name}`, String(body.sha)]);
        return [200, { ref: `refs/heads/${name}`, object: { sha: body.sha } }];
      },
    ],
    [
      'GET',
      /^\/git\/matching-refs\/heads\/(.+)$/,
      ([start = '']) => [
        200,
        text(['for-each-ref', '--format=%(refname)', 'refs/heads/'])
          .split('\n')
          .filter((ref) => ref.startsWith(`refs/heads/${start}`))
          .map((ref) => ({ ref })),
      ],
    ],
    [
      'GET',
      /^\/compare\/(\w+)\.\.\.(\w+)$/,
      ([base = '', head = '']) => [
        200,
        { merge_base_commit: { sha: text(['merge-base', base, head]) }, files: [], commits: [] },
      ],
    ],
    [
      'GET',
      /^\/commits\/([^/]+)$/,
      ([ref = '']) => [200, { sha: require(maybe(['rev-parse', '--verify', `${ref}^{commit}`])) }],
    ],
    ['GET', /^\/commits\/(\w+)\/check-runs$/, () => [200, { total_count: 0, check_runs: double.checkRuns }]],
    ['GET', /^\/commits\/(\w+)\/status$/, () => [200, { state: 'pending', statuses: [] }]],
    ['GET', /^\/pulls\/(\d+)\/reviews$/, () => [200, double.reviews]],
    ['GET', /^\/pulls\/(\d+)\/comments$/, () => [200, double.lineComments]],
    [
      'GET',
      /^\/search\/code$/,
      (_m, _b, query) => {
        const wanted = JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(query.get('q') ?? '')?.[0] ?? '""') as string;
        const found = maybe(['grep', '-l', '-F', '-e', wanted, 'main'])?.split('\n') ?? [];
        return [200, { total_count: found.length, items: found.map((line) => ({ path: line.slice(5) })) }];
      },
    ],
    ['GET', /^\/repositories\/(\d+)$/, () => [200, { full_name: double.movedTo }]],
    [
      'GET',
      /^\/issues\/(\d+)$/,
      ([number]) => {
        const issue = double.issues.find((each) => each.number === Number(number));
        if (!issue) throw new Refusal(404, 'Not Found');
        return [200, showText(issue)];
      },
    ],
    [
      'DELETE',
      /^\/git\/refs\/heads\/(.+)$/,
      ([name = '']) => {
        run(['update-ref', '-d', `refs/heads/${name}`]);
        return [204, undefined];
      },
    ],
    [
      'GET',
      /^\/pulls$/,
      (_m, _b, query) => {
        const head = query.get('head')?.split(':')[1];
        const state = query.get('state') ?? 'open';
        return [
          200,
          double.pulls
            .filter((pull) => (!head || pull.head === head) && (state === 'all' || pull.state === state))
            .map(showPull),
        ];
      },
    ],
    [
      'POST',
      /^\/pulls$/,
      (_m, body) => {
        const [head, base] = [String(body.head), String(body.base)];
        const [headSha, baseSha] = [branch(head), branch(base)];
        if (!headSha || !baseSha) throw new Refusal(422, 'Validation Failed: head or base');
        if (headSha === baseSha)
          throw new Refusal(422, `Validation Failed: No commits between ${base} and ${head}`);
        if (double.pulls.some((pull) => pull.head === head && pull.state === 'open'))
          throw new Refusal(422, 'Validation Failed: A pull request already exists');
        last += 1;
        const pull = {
          number: last,
          title: String(body.title),
          body: String(body.body),
          state: 'open',
          draft: body.draft === true,
          head,
          base,
          baseSha,
        };
        double.pulls.push(pull);
        return [201, showPull(pull)];
      },
    ],
    ['GET', /^\/pulls\/(\d+)$/, ([number]) => [200, showPull(find(number))]],
    [
      'GET',
      /^\/pulls\/(\d+)\/files$/,
      ([number], _b, query) => paged(double.files?.() ?? diff(find(number)), query),
    ],
    ['GET', /^\/issues$/, (_m, _b, query) => paged(double.issues.map(showText).reverse(), query)],
    [
      'POST',
      /^\/issues$/,
      (_m, body) => {
        last += 1;
        const issue = {
          id: last,
          number: last,
          title: String(body.title),
          body: String(body.body),
          labels: (body.labels ?? []) as string[],
          at: new Date().toISOString(),
        };
        double.issues.push(issue);
        return [201, showText(issue)];
      },
    ],
    [
      'GET',
      /^\/issues\/(\d+)\/comments$/,
      ([number], _b, query) =>
        paged(double.comments.filter((each) => each.number === Number(number)).map(showText), query),
    ],
    [
      'POST',
      /^\/issues\/(\d+)\/comments$/,
      ([number], body) => {
        last += 1;
        const comment = {
          id: last,
          number: Number(number),
          body: String(body.body),
          labels: [],
          at: new Date().toISOString(),
        };
        double.comments.push(comment);
        return [201, showText(comment)];
      },
    ],
  ];

  const serve = (method: string, url: URL, body: Body): Answer => {
    const path = decodeURIComponent(url.pathname).replace(`/repos/${fullName}`, '');
    for (const [verb, pattern, handler] of ROUTES) {
      const match = verb === method ? pattern.exec(path) : null;
      if (match) return handler(match.slice(1), body, url.searchParams);
    }
    throw new Refusal(404, 'Not Found');
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://double');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const name = `${request.method} ${decodeURIComponent(url.pathname).replace(`/repos/${fullName}`, '')}`;
    double.requests.push(name);
    const fault = double.fault(name, double.requests.length);
    if (fault === 'drop') return void request.socket.destroy();
    // The connection stays open until the double is closed.
    if (fault === 'hold') return;
    const send = (status: number, headers: Record<string, string>, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    if (typeof fault === 'object')
      return send(fault.status, fault.headers ?? {}, fault.body ?? { message: 'injected' });
    try {
      const raw = Buffer.concat(chunks).toString();
      const [status, body, next] = serve(request.method ?? 'GET', url, (raw ? JSON.parse(raw) : {}) as Body);
      if (fault === 'act-and-drop') return void request.socket.destroy();
      const link = next && `<${double.url}${url.pathname}?${next}>; rel="next"`;
      send(status, link ? { link } : {}, body);
    } catch (error) {
      send(error instanceof Refusal ? error.status : 500, {}, { message: (error as Error).message });
    }
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const double: GithubDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    issues: [],
    comments: [],
    pulls: [],
    checkRuns: [],
    reviews: [],
    lineComments: [],
    movedTo: fullName,
    fault: () => undefined,
    files: undefined,
    hiddenFiles: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return double;
}
