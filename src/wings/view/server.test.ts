import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommandError } from '../../commands/command-error.ts';
import { openViewServer } from './server.ts';
import { OpenedView, TOKEN } from './testing/opened-view.ts';
import type { PathQuestion } from './view-data.ts';

const HOSTILE = '</script><script>alert(1)</script>';

describe('the server of `fairlead view`', () => {
  let view: OpenedView;
  const asked: PathQuestion[] = [];

  beforeEach(async () => {
    asked.length = 0;
    view = await OpenedView.open({
      dots: async () => ({
        version: 1,
        count: 1,
        namespaces: [{ name: 'shop', services: [HOSTILE], states: 'q' }],
      }),
      service: async () => undefined,
      search: async (query) => ({ query, found: [], more: 0 }),
      path: async (question) => {
        asked.push(question);
        throw new CommandError('no such Service', { code: 'SERVICE_NOT_FOUND', next: 'look' });
      },
      doctor: async () => {
        throw new TypeError('a secret of the machine');
      },
    });
  });

  afterEach(() => view.close());

  it('answers with the token in the header or in its cookie', async () => {
    assert.equal((await view.get('/data/dots')).status, 200);
    const cookie = `other=1; fairlead-view-${view.port}=${TOKEN}`;
    const headers = { Authorization: '', Cookie: cookie };
    assert.equal((await view.get('/data/dots', { headers })).status, 200);
  });

  it('changes the token in the address for a cookie of this port', async () => {
    const { status, headers } = await view.get(`/?token=${TOKEN}`, {
      headers: { Authorization: '' },
    });
    assert.equal(status, 303);
    assert.equal(headers.location, '/');
    assert.deepEqual(headers['set-cookie'], [
      `fairlead-view-${view.port}=${TOKEN}; Path=/; HttpOnly; SameSite=Strict`,
    ]);
  });

  const unknown: Readonly<Record<string, Record<string, string>>> = {
    'no token': {},
    'a wrong token': { Authorization: 'Bearer wrong' },
    'a longer token': { Authorization: `Bearer ${TOKEN}x` },
    'the token in another scheme': { Authorization: `Basic ${TOKEN}` },
    'the cookie of another port': { Cookie: `fairlead-view-1=${TOKEN}` },
    'a wrong cookie': { Cookie: 'fairlead-view-1=; fairlead-view-=x' },
  };
  for (const [name, headers] of Object.entries(unknown)) {
    it(`answers 401 to ${name}, for the page, its files and its data`, async () => {
      for (const path of ['/', '/app.ts', '/data/dots', '/data/ticks', '/nothing']) {
        const got = await view.get(path, { headers: { Authorization: '', ...headers } });
        assert.equal(got.status, 401, path);
        assert.equal(JSON.parse(got.body).code, 'NO_TOKEN');
        assert.doesNotMatch(got.body, new RegExp(TOKEN));
      }
    });
  }

  it('answers 401 to a wrong token in the address, and sets no cookie', async () => {
    const got = await view.get('/?token=wrong');
    assert.equal(got.status, 401);
    assert.equal(got.headers['set-cookie'], undefined);
  });

  it('answers 403 to every Host but loopback with its own port', async () => {
    const hosts = [
      'rebound.example',
      `rebound.example:${view.port}`,
      '127.0.0.1',
      `127.0.0.1:${view.port + 1}`,
      `127.0.0.1:${view.port}.rebound.example`,
      `127.0.0.1:${view.port}@rebound.example`,
    ];
    for (const host of hosts) {
      const got = await view.get(`/?token=${TOKEN}`, { headers: { Host: host } });
      assert.equal(got.status, 403, host);
      assert.equal(got.headers['set-cookie'], undefined);
    }
    for (const host of ['localhost', '[::1]', '127.0.0.1']) {
      const got = await view.get('/data/dots', { headers: { Host: `${host}:${view.port}` } });
      assert.equal(got.status, 200, host);
    }
  });

  it('answers 403 to a request of a page of another server, even of this machine', async () => {
    for (const [site, status] of [
      ['same-origin', 200],
      ['none', 200],
      ['same-site', 403],
      ['cross-site', 403],
    ] as const) {
      const got = await view.get('/data/dots', { headers: { 'Sec-Fetch-Site': site } });
      assert.equal(got.status, status, site);
    }
  });

  it('answers 405 to everything but GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
      const got = await view.get('/data/dots', { method });
      assert.equal(got.status, 405, method);
    }
    const head = await view.get('/data/dots', { method: 'HEAD' });
    assert.deepEqual([head.status, head.body], [200, '']);
  });

  it('serves no file outside of the page, however the path is written', async () => {
    const paths = [
      '/../server.ts',
      '/%2e%2e/protocol.ts',
      '/..%2fserver.ts',
      '/%2e%2e%2fprotocol.ts',
      '/..%5cserver.ts',
      '/page/../../server.ts',
      '//etc/passwd',
      '/etc/passwd',
      '/app.ts%00.html',
      '/./app.ts',
      '/APP.TS',
      '/index.html/',
      '/README.md',
      '/data/dots/',
      '/data/%64ots',
      'http://127.0.0.1/app.ts',
    ];
    for (const path of paths) assert.equal((await view.get(path)).status, 404, path);
  });

  it('sends every response with the headers that keep the page safe', async () => {
    const answers = [
      await view.get('/'),
      await view.get('/app.ts'),
      await view.get('/data/dots'),
      await view.get('/nothing'),
      await view.get('/', { headers: { Authorization: '' } }),
      await view.get(`/?token=${TOKEN}`),
    ];
    const policy =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    for (const { headers } of answers) {
      assert.equal(headers['content-security-policy'], policy);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(headers['access-control-allow-origin'], undefined);
    }
  });

  it('serves scripts as JavaScript without their types', async () => {
    const { headers, body } = await view.get('/app.ts');
    assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
    assert.match(body, /export function codeOf\(problem\s*\)\s*\{/);
    assert.doesNotMatch(body, /protocol\.ts/);
  });

  it('sends names of the cluster as JSON only, never inside HTML', async () => {
    const dots = await view.get('/data/dots');
    assert.equal(dots.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(JSON.parse(dots.body).namespaces[0].services[0], HOSTILE);
    const name = encodeURIComponent(`shop/${HOSTILE}`);
    for (const path of [`/data/service?name=${name}`, `/data/search?q=${name}`]) {
      const got = await view.get(path);
      assert.equal(got.headers['content-type'], 'application/json; charset=utf-8', path);
      assert.ok(JSON.stringify(JSON.parse(got.body)).includes('alert(1)'));
    }
    const page = await view.get('/');
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.doesNotMatch(page.body, /alert/);
  });

  it('sends no packet, and enters no namespace, unless it was allowed', async () => {
    for (const query of [
      'target=a/b&probe=syn',
      'target=a/b&probe=dry',
      'target=a/b&from=pid:1',
      'target=a/b&from=netns:/run/netns/a',
      'target=a/b&from=10.0.0.1@/run/netns/a',
    ]) {
      assert.equal((await view.get(`/data/path?${query}`)).status, 403, query);
    }
    assert.deepEqual(asked, []);
    assert.equal((await view.get('/data/path?target=a/b')).status, 404);
    assert.deepEqual(asked, [{ target: 'a/b', from: undefined, probe: 'none' }]);
  });

  it('sends packets where it was allowed', async (t) => {
    const allowed = await OpenedView.open(
      {
        path: async (question) => {
          asked.push(question);
          throw new CommandError('no such Service', { code: 'SERVICE_NOT_FOUND', next: 'look' });
        },
      },
      { mayProbe: true },
    );
    t.after(() => allowed.close());
    await allowed.get('/data/path?target=a/b&from=host&probe=syn');
    assert.deepEqual(asked, [{ target: 'a/b', from: 'host', probe: 'syn' }]);
  });

  it('answers 400 to wrong parameters', async () => {
    const long = 'x'.repeat(601);
    for (const path of [
      '/data/search',
      `/data/search?q=${long}`,
      '/data/changes?before=-1',
      '/data/changes?before=0',
      '/data/path?target=a/b&probe=flood',
      '/data/path',
    ]) {
      assert.equal((await view.get(path)).status, 400, path);
    }
  });

  it('tells a page nothing of its own errors, and the terminal everything', async () => {
    const got = await view.get('/data/doctor');
    assert.equal(got.status, 500);
    assert.doesNotMatch(got.body, /secret|server\.test/);
    assert.match(String(view.problems), /a secret of the machine/);
  });

  it('has a bounded number of event streams, and room again when one ends', async () => {
    const streams = [await view.follow(), await view.follow(), await view.follow()];
    assert.equal(streams[0]?.headers['content-type'], 'text/event-stream; charset=utf-8');
    const rejected = await view.get('/data/ticks');
    assert.equal(rejected.status, 503);
    assert.equal(JSON.parse(rejected.body).code, 'TOO_MANY_STREAMS');
    streams[1]?.destroy();
    while (view.streams.count > 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await view.follow()).statusCode, 200);
  });

  it('sends the same events to every stream after its first one', async () => {
    const [one, two] = [await view.follow(), await view.follow()];
    view.streams.send('tick', '{"tick":1}');
    const expected = 'event: hello\ndata: {}\n\nevent: tick\ndata: {"tick":1}\n\n';
    assert.equal(await textOf(one, expected.length), expected);
    assert.equal(await textOf(two, expected.length), expected);
  });

  it('ends the stream of a page that does not read', async () => {
    const stream = await view.follow();
    stream.pause();
    const tick = JSON.stringify('x'.repeat(64 * 1024));
    // 32 MB: more than the kernel keeps for a socket.
    for (let count = 0; count < 500 && view.streams.count > 0; count++) {
      view.streams.send('tick', tick);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(view.streams.count, 0);
  });

  it('says what to do when the port is taken', async () => {
    const options = {
      port: view.port,
      token: TOKEN,
      site: { files: new Map(), data: {} as never, mayProbe: false },
      streams: view.streams,
      onFollow: async () => ({ event: 'hello', json: '' }) as const,
      onProblem: () => undefined,
    };
    await assert.rejects(openViewServer(options, new AbortController().signal), {
      code: 'VIEW_PORT',
      message: `cannot listen on 127.0.0.1:${view.port}: EADDRINUSE`,
    });
  });
});

async function textOf(stream: AsyncIterable<Buffer>, length: number): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk.toString('utf8');
    if (text.length >= length) break;
  }
  return text;
}
