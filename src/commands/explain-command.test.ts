import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { condition, conditionsWith } from '../agent/servers/testing/example-conditions.ts';
import type { Explanation } from '../explain/explanation.ts';
import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { type CommandRun, runCommand } from './basis/testing/run-command.ts';
import { type ServedAgentOptions, serveAgent } from './basis/testing/served-agent.ts';
import { CommandError } from './command-error.ts';
import { answerLines } from './explain/answer-lines.ts';
import { explainCommand } from './explain-command.ts';

const FOLDER = join(import.meta.dirname, 'explain/testdata');
const SHOP = join(FOLDER, 'shop.yaml');
const CHANGE = join(FOLDER, 'change.yaml');
const OFFLINE = ['-f', SHOP, '--node', 'node1', '--cluster-cidr', '10.1.0.0/16'];

async function explain(t: TestContext, ...args: string[]): Promise<CommandRun> {
  return await runCommand(t, explainCommand(), [...OFFLINE, ...args]);
}

async function explained(t: TestContext, ...args: string[]) {
  const { out } = await explain(t, ...args, '-o', 'json');
  return JSON.parse(out);
}

describe('fairlead explain, as text of 80 columns', () => {
  it('begins with the code and one sentence, then gives every reason', async (t) => {
    const { code, out } = await explain(t, 'shop/web', '--from', 'pod:shop/cart-6f4d');
    assert.equal(code, 5);
    assert.deepEqual(out.split('\n'), [
      'WOULD_REACH  pod shop/cart-6f4d would reach shop/web:http (10.96.0.10:80) at one',
      '             of 2 endpoints; only predicted, no packet was sent; but not at',
      '             198.18.0.1:80 (DROPPED_SOURCE_RANGE)',
      '',
      '  addresses      10.96.0.10:80  shop/web:http: WOULD_REACH',
      '                 10.96.0.10:81  shop/web:admin: WOULD_REACH',
      '  from           pod shop/cart-6f4d, source class pod: 10.1.0.1 is in',
      '                 10.1.0.0/16, the range of pods',
      '  seen as        the endpoint sees 10.1.0.1',
      '  endpoints      10.1.0.2:8080   node1, 1 of 2',
      '                 10.1.3.17:8080  node3, 1 of 2',
      '  not used       10.1.8.40:8080  node8, not ready',
      '  the same       from this node: WOULD_REACH, one of 2 endpoints, masqueraded',
      '                 from a client outside: WOULD_REACH, one of 2 endpoints,',
      '                 masqueraded',
      '                 at 198.18.0.1:80: DROPPED_SOURCE_RANGE, only from',
      '                 172.16.0.0/12, 198.18.0.1/32',
      '                 at node port 30080: WOULD_REACH, one of 2 endpoints,',
      '                 masqueraded',
      '  kernel         not compared: these are not the rows of a running agent',
      '  proof          predicted from the rows; not proven by a packet',
    ]);
  });

  it('promises no equal share where an IPVS scheduler gives none', NEEDS_WINGS, async (t) => {
    const shares = async (scheduler: string, target: string) => {
      const flags = ['--proxy-mode', 'ipvs', '--ipvs-scheduler', scheduler];
      const { candidates } = (await explained(t, target, ...flags)) as Explanation;
      const used = candidates.filter(({ selected }) => selected);
      return used.map(({ oneOf, chosenIf }) => chosenIf ?? `1 of ${oneOf}`);
    };
    const byClient = "if a hash of the client's address selects it (sh)";
    assert.deepEqual(await shares('sh', 'shop/web'), [byClient, byClient]);
    const byOne = 'if it is the one that all clients get (fo)';
    assert.deepEqual(await shares('fo', 'shop/web'), [byOne, byOne]);
    assert.deepEqual(await shares('rr', 'shop/web'), ['1 of 2', '1 of 2']);
    // As the scheduler of all Services it has mh-port.
    assert.deepEqual(await shares('mh', 'shop/web'), ['1 of 2', '1 of 2']);
    // Source ranges are checked by the rules behind IPVS, which draw.
    assert.deepEqual(await shares('sh', '198.18.0.1:80'), ['1 of 2', '1 of 2']);
  });

  it('says why a ClusterIP is not served outside of the cluster, and what to do', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'config.yaml');
    const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
    const block = 'fairlead: {nodeObject: none, serviceRanges: [10.97.0.0/16]}\n';
    await writeFile(file, `${head}mode: nftables\n${block}`);
    const found: Explanation = await explained(t, '10.96.0.10:80', '--config', file);
    assert.equal(found.code, 'NOT_SERVED');
    assert.match(found.sentence, /it is outside of the configured Service ranges 10\.97\.0\.0\/16/);
    assert.match(found.next.join(), /add its range to fairlead\.serviceRanges/);
  });

  it('says what to do where it does not reach', async (t) => {
    const { code, out } = await explain(t, '198.18.0.7:443', '--from', '203.0.113.9');
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      'DROPPED_NO_LOCAL_ENDPOINTS  ingress/edge:https (198.18.0.7:443) is for endpoints',
      '                            on this node only, and there is none: dropped, and',
      '                            the client waits',
      '',
      '  from           source class outside: 203.0.113.9 is not in 10.1.0.0/16, the',
      '                 range of pods',
      '  policy         externalTrafficPolicy: Local',
      '  health check   node port 31822 answers 503 here, so that a load balancer that',
      '                 asks sends nothing to this node',
      '  not used       10.1.3.4:8443  node3, on another node',
      '                 10.1.5.6:8443  node5, on another node',
      '  the same       from a pod of this node: WOULD_REACH, one of 2 endpoints',
      '                 from this node: WOULD_REACH, one of 2 endpoints, masqueraded',
      '                 at 10.96.0.12:443: WOULD_REACH, one of 2 endpoints, masqueraded',
      '                 at node port 30443: DROPPED_NO_LOCAL_ENDPOINTS',
      '  kernel         not compared: these are not the rows of a running agent',
      '  proof          predicted from the rows; not proven by a packet',
      '  next           connect to a node that has an endpoint, run one here, or set',
      '                 externalTrafficPolicy: Cluster',
    ]);
  });
});

describe('fairlead explain, codes and exit codes', () => {
  const cases: readonly (readonly [args: string, code: string, exit: number])[] = [
    ['shop/web', 'WOULD_REACH', 5],
    ['shop/web:admin --from host', 'WOULD_REACH', 5],
    ['shop/web:81', 'WOULD_REACH', 5],
    ['172.16.0.11:30080 --from outside', 'WOULD_REACH', 5],
    ['shop/reviews', 'REFUSED_NO_ENDPOINTS', 3],
    ['198.18.0.7:443 --from outside', 'DROPPED_NO_LOCAL_ENDPOINTS', 3],
    ['198.18.0.1:80 --from pod:shop/cart-6f4d', 'DROPPED_SOURCE_RANGE', 3],
    ['127.0.0.1:30080 --from host', 'NODE_PORT_NOT_HERE', 3],
    ['shop/web:82', 'PORT_NOT_DECLARED', 1],
    ['10.96.0.10:80/udp', 'PORT_NOT_DECLARED', 1],
    ['10.96.0.99:80', 'NO_SUCH_ADDRESS', 1],
    ['[fd00::1]:80', 'NO_SUCH_ADDRESS', 1],
    ['shop/web --why-not web-q1wd', 'NOT_SELECTED', 3],
    ['shop/web --why-not 10.1.3.17', 'WOULD_REACH', 5],
    ['shop/web --why-not 10.1.77.1', 'NOT_SELECTED', 3],
    // By name a client outside is asked at what it can use, and not at the cluster IP.
    ['ingress/edge --from outside', 'DROPPED_NO_LOCAL_ENDPOINTS', 3],
    ['ingress/edge --from outside --at cluster-ip', 'WOULD_REACH', 5],
    ['shop/web --from 203.0.113.9', 'DROPPED_SOURCE_RANGE', 3],
    ['shop/web --from 203.0.113.9 --at node-port', 'WOULD_REACH', 5],
    ['shop/web --at 198.18.0.1 --from pod:shop/cart-6f4d', 'DROPPED_SOURCE_RANGE', 3],
    ['shop/web --at 192.0.2.1', 'PORT_NOT_DECLARED', 1],
  ];
  for (const [args, code, exit] of cases) {
    it(`${args}: ${code}, exit code ${exit}`, async (t) => {
      const run = await explain(t, ...args.split(' '), '-o', 'json');
      const printed = run.out === '' ? /\((\w+)\)/.exec(run.err)?.[1] : JSON.parse(run.out).code;
      assert.deepEqual([printed, run.code], [code, exit]);
    });
  }

  it('lists every address of a name, worst first', async (t) => {
    const said = (await explained(t, 'shop/web:http', '--from', '203.0.113.9')) as Explanation;
    assert.equal(said.certainty, 'predicted');
    assert.deepEqual(
      said.addresses?.map(({ at, code }) => [at, code]),
      [
        ['198.18.0.1:80', 'DROPPED_SOURCE_RANGE'],
        ['172.16.0.11:30080', 'WOULD_REACH'],
      ],
    );
  });

  it('an unknown Service, port name or pod is exit code 1, a wrong line 2', async (t) => {
    const lines: readonly (readonly [string, number, RegExp])[] = [
      ['shop/none', 1, /SERVICE_NOT_FOUND/],
      ['shop/web:ftp', 1, /its ports: shop\/web:http \(10\.96\.0\.10:80\), .*PORT_NOT_DECLARED/s],
      ['shop/web --from pod:shop/none', 1, /POD_NOT_FOUND/],
      ['shop/web --from nowhere', 2, /USAGE/],
      ['shop/web --from fd00::1', 2, /OTHER_FAMILY/],
      ['10.96.0.10:99999', 2, /USAGE/],
      ['a/b/c', 2, /USAGE/],
    ];
    for (const [args, exit, says] of lines) {
      const { code, out, err } = await explain(t, ...args.split(' '));
      assert.deepEqual([code, out], [exit, ''], args);
      assert.match(err, says);
    }
  });

  it('lets pass in mode iptables what its rules do not reject', NEEDS_WINGS, async (t) => {
    const { out } = await explain(t, '10.96.0.10:82', '--proxy-mode', 'iptables', '-o', 'json');
    assert.equal(JSON.parse(out).predicted.action, 'pass');
  });
});

describe('fairlead explain, sources', () => {
  it('finds a pod by its object, and by the endpoint that names it', async (t) => {
    const cart = await explained(t, 'shop/web', '--from', 'pod:shop/cart-6f4d');
    assert.deepEqual([cart.question.from.class, cart.question.from.address], ['pod', '10.1.0.1']);
    const itself = await explained(t, 'shop/web', '--from', 'pod:shop/web-x2x4');
    assert.equal(itself.candidates[0].hairpin, true);
  });

  it('says how a pod that reaches itself sees itself, in each mode', NEEDS_WINGS, async (t) => {
    const said = async (mode: string) => {
      const asked = ['shop/web', '--from', 'pod:shop/web-x2x4', '--proxy-mode', mode];
      const { remarks } = (await explained(t, ...asked)) as Explanation;
      return remarks.find(({ topic }) => topic === 'itself')?.text;
    };
    const masqueraded = 'an endpoint that reaches itself is masqueraded';
    for (const mode of ['nftables', 'iptables', 'ipvs', 'tc-ebpf']) {
      assert.equal(await said(mode), masqueraded, mode);
    }
    assert.match((await said('socket-ebpf')) ?? '', /sees its own address/);
    assert.match((await said('userspace')) ?? '', /sees an address of this node/);
  });

  it('calls no connection masqueraded that its socket makes', NEEDS_WINGS, async (t) => {
    const fromNode = async (mode: string) => {
      const { elsewhere } = (await explained(t, 'shop/web', '--proxy-mode', mode)) as Explanation;
      return elsewhere.find(({ where }) => where === 'from this node')?.more;
    };
    assert.equal(await fromNode('nftables'), 'one of 2 endpoints, masqueraded');
    assert.equal(await fromNode('socket-ebpf'), 'one of 2 endpoints');
    assert.equal(await fromNode('tc-ebpf'), 'one of 2 endpoints');
  });

  it('takes the word of the person for a pod of this node, where interfaces show it', async (t) => {
    const config = [
      '--detect-local-mode',
      'InterfaceNamePrefix',
      '--pod-interface-name-prefix',
      'veth',
    ];
    const asOutside = await explained(t, 'shop/web', ...config, '--from', '10.1.0.1');
    assert.equal(asOutside.question.from.class, 'outside');
    const asPod = await explained(t, 'shop/web', ...config, '--from', 'pod:10.1.0.1');
    assert.equal(asPod.question.from.class, 'pod');
  });

  it('says that another node translates the connections of its pods', async (t) => {
    const { out } = await explain(t, 'shop/web', '--from', 'pod:shop/web-q1wd');
    assert.match(out, /but +its node is node8, which translates its connections: ask there/);
  });

  it('quotes the Ready condition of a pod that gets no connection', async (t) => {
    const { out } = await explain(t, 'shop/web', '--why-not', 'shop/web-q1wd');
    assert.match(out, /^NOT_SELECTED {2}pod shop\/web-q1wd \(10\.1\.8\.40\) gets no connection of/);
    assert.match(out, /because +not ready\n/);
    assert.match(out, /the pod +Ready=False, ContainersNotReady: containers with unready/);
    assert.match(out, /next +kubectl -n shop describe pod web-q1wd/);
  });
});

describe('fairlead explain, a reason for every zero', () => {
  const because = ({ remarks }: Explanation, topic = 'because') =>
    remarks.find((each) => each.topic === topic)?.text;

  it('reads pods of the manifests, and says what to do about the cause', async (t) => {
    const found: Explanation = await explained(t, 'shop/search');
    assert.equal(found.cause, 'no pod matches');
    assert.match(because(found) ?? '', /app=revews matches no pod .*reviews-5c7d has app=reviews$/);
    assert.match(found.next.join(), /kubectl -n shop set selector service search app=reviews$/);
  });

  it('names a Service without a clusterIP instead of calling it unknown', async (t) => {
    const { code, err } = await explain(t, 'shop/draft');
    assert.equal(code, 1);
    assert.match(err, /Service shop\/draft has no clusterIP in these manifests: the API server/);
    assert.match(err, /SERVICE_NOT_SERVED/);
  });

  it('does not say that no slice has an endpoint whose port has another name', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'objects.yaml');
    const port = (await readFile(SHOP, 'utf8')).replaceAll(
      'name: http, port: 8080',
      'name: web, port: 8080',
    );
    await writeFile(file, port);
    const args = [
      'shop/web',
      '--why-not',
      '10.1.3.17',
      '-f',
      file,
      '--node',
      'node1',
      '-o',
      'json',
    ];
    const { out } = await runCommand(t, explainCommand(), args);
    assert.equal(
      because(JSON.parse(out) as Explanation),
      'EndpointSlice web-1 has it with port web/TCP, port admin/TCP, and the Service wants port http/TCP',
    );
  });

  it('does not advise a client of a ClusterIP to connect to another node', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'local.yaml');
    const policy = 'clusterIP: 10.96.0.12\n  internalTrafficPolicy: Local';
    await writeFile(file, (await readFile(SHOP, 'utf8')).replace('clusterIP: 10.96.0.12', policy));
    const args = ['ingress/edge', '-f', file, '--node', 'node1', '-o', 'json'];
    const found = JSON.parse((await runCommand(t, explainCommand(), args)).out) as Explanation;
    assert.equal(found.code, 'DROPPED_NO_LOCAL_ENDPOINTS');
    const next = 'run an endpoint on this node, or set internalTrafficPolicy: Cluster';
    assert.deepEqual(found.next, [next]);
  });

  it('reads no objects for many questions: the rows are enough', async (t) => {
    const stdin = Object.getOwnPropertyDescriptor(process, 'stdin');
    t.after(() => stdin && Object.defineProperty(process, 'stdin', stdin));
    const value = Readable.from(['shop/search\n']);
    Object.defineProperty(process, 'stdin', { configurable: true, value });
    const { out } = await runCommand(t, explainCommand(), [...OFFLINE, '-']);
    const found = JSON.parse(out) as Explanation;
    assert.equal(found.cause, 'not known');
    assert.equal(because(found, 'not known'), undefined);
  });

  it('says that masquerading is not known without a range of pods', async (t) => {
    const args = ['shop/web', '-f', SHOP, '--node', 'node1', '--from', 'host', '-o', 'json'];
    const bare = JSON.parse((await runCommand(t, explainCommand(), args)).out) as Explanation;
    assert.match(because(bare, 'seen as') ?? '', /^not known: .* --cluster-cidr, or --config/);
    const others = bare.elsewhere.map(({ more }) => more).join('; ');
    assert.match(others, /one of 2 endpoints, masquerading not known/);
    const given: Explanation = await explained(t, 'shop/web', '--from', 'host');
    assert.match(because(given, 'seen as') ?? '', /^masqueraded: /);
  });
});

describe('fairlead explain -', () => {
  it('answers each line with a line of JSON, and a wrong one with its error', async (t) => {
    const lines = ['shop/web host', '', '10.96.0.99:80', 'shop/none', 'shop/reviews pod'];
    const printed: string[] = [];
    const log = t.mock.method(console, 'log', (text: string) => printed.push(text));
    await answerLines(Readable.from([`${lines.join('\n')}\n`]), async ({ target, from }) => {
      if (target === 'shop/none') throw new CommandError('none', { code: 'NONE', next: '' });
      return { code: from ?? 'default' } as unknown as Explanation;
    });
    log.mock.restore();
    assert.deepEqual(
      printed.map((line) => JSON.parse(line)),
      [
        { code: 'host' },
        { code: 'default' },
        { error: { code: 'NONE', message: 'none' } },
        { code: 'pod' },
      ],
    );
  });
});

describe('fairlead explain --with', () => {
  it('explains with the change, and lists the rows that would change', async (t) => {
    const { code, out } = await explain(t, 'shop/web', '--with', CHANGE);
    assert.equal(code, 5);
    assert.match(
      out,
      /^WOULD_REACH {2}a pod of this node would reach shop\/web:http \(10\.96\.0\.10:80\) at\n/,
    );
    assert.match(out, /2\s+rows\s+would\s+change;\s+nothing\s+is\s+written/);
    assert.match(out, /now +WOULD_REACH: .*\s+\(10\.96\.0\.10:80\) at one of 2 endpoints/);
    assert.match(out, /~ shop\/web:http\/TCP\/IPv4\n +endpoints +-10\.1\.0\.2:8080$/m);
  });

  it('shows outcomes that change, and a Service that is new', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = join(folder, 'new.json');
    const spec = { clusterIP: '10.96.0.20', clusterIPs: ['10.96.0.20'], ports: [{ port: 80 }] };
    const metadata = { name: 'new', namespace: 'shop' };
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata, spec }));
    const said = await explained(t, 'shop/new', '--with', file, '--with', CHANGE);
    assert.equal(said.code, 'REFUSED_NO_ENDPOINTS');
    assert.equal(said.with.now.code, 'NO_SUCH_ADDRESS');
    const rows = said.with.rows.map(({ row, is }: { row: string; is: string }) => `${is} ${row}`);
    assert.deepEqual(rows, [
      'added shop/new/TCP/IPv4',
      'changed shop/web:admin/TCP/IPv4',
      'changed shop/web:http/TCP/IPv4',
    ]);
    assert.equal(said.with.rows[0].frontends[0].after.outcomes.pod.action, 'reject');
  });

  it('fails on a file that it cannot read', async (t) => {
    const { code, out, err } = await explain(t, 'shop/web', '--with', join(FOLDER, 'none.yaml'));
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /cannot read .*none\.yaml: no such file/);
  });
});

describe('fairlead explain, asking the agent', () => {
  async function ask(t: TestContext, more: Partial<ServedAgentOptions>, ...args: string[]) {
    const runFolder = await mkdtemp(join(tmpdir(), 'fairlead-explain-'));
    t.after(() => rm(runFolder, { recursive: true }));
    const configPath = join(runFolder, 'config.yaml');
    const kind = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
    await writeFile(configPath, `${kind}mode: nftables\nclusterCIDR: 10.1.0.0/16\n`);
    const files = { runFolder, configPath, manifests: [SHOP], nodeName: 'node1' };
    await using _agent = await serveAgent({ ...files, ...more });
    return await runCommand(t, explainCommand(), ['--run-folder', runFolder, ...args]);
  }

  it('says that the kernel has the row', async (t) => {
    for (const target of ['shop/web', '10.96.0.10:80']) {
      const { code, out, err } = await ask(t, {}, target, '--from', 'pod:shop/cart-6f4d');
      assert.equal(code, 5, err);
      assert.match(err, /^from the agent on node1 \(nftables, pid \d+\)$/m);
      assert.match(out, /kernel +has the row as desired, the agent \(pid \d+\) says/);
      assert.match(out, /not used +10\.1\.8\.40:8080 +node8, not ready/);
    }
  });

  it('is behind while the row waits to be written', async (t) => {
    const rowState = { is: 'waiting', forMs: 3_200, kernelHas: 'nothing' } as const;
    const { code, out } = await ask(t, { rowState }, 'shop/web');
    assert.equal(code, 3);
    assert.match(out, /^BEHIND {2}shop\/web:http has waited for 3 s to be written: the kernel has/);
    assert.match(out, /as desired +WOULD_REACH: a pod of this node would\s+reach shop\/web:http/);
  });

  it('is not in the kernel if the kernel rejected the row, or the tables are gone', async (t) => {
    const error = { code: 'X', message: 'No space left on device', next: 'raise the limit' };
    const kernelHas = 'an earlier state';
    const rowState = { is: 'rejected', forMs: 9_000, kernelHas, attempts: 4, error } as const;
    const rejected = await ask(t, { rowState }, 'shop/web');
    assert.equal(rejected.code, 3);
    assert.match(
      rejected.out,
      /^NOT_IN_KERNEL {2}the kernel rejected shop\/web:http: No space left/,
    );
    const attachments = [{ place: 'nftables', name: 'table ip fairlead', isAttached: false }];
    const gone = await ask(t, { status: { attachments } }, 'shop/web');
    assert.equal(gone.code, 3);
    assert.match(
      gone.out,
      /^NOT_IN_KERNEL {2}packets do not reach the rules: nftables table ip fairlead/,
    );
  });

  it('tells what else the agent complains of', async (t) => {
    const apiFresh = { ...condition(false), why: 'nothing received for 5 min' };
    const conditions = conditionsWith({ apiFresh });
    const { code, out } = await ask(t, { status: { conditions } }, 'shop/web');
    assert.equal(code, 5);
    assert.match(out, /trouble +no watch to the API server: nothing received for 5 min/);
  });

  it('applies a change to the objects of the agent', async (t) => {
    const { code, out } = await ask(t, {}, 'shop/web', '--with', CHANGE);
    assert.equal(code, 5);
    assert.match(out, /2\s+rows\s+would\s+change/);
    // The agent of this test has another process's rows, and no connection.
    assert.match(out, /open +(0 open connections|connections not counted: )/);
  });
});
