import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import {
  condition,
  conditionsWith,
  snapshotWith,
} from '../../agent/servers/testing/example-conditions.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { gapOf, SERVER_FEATURES, type ServerReport } from '../../cluster/server-report.ts';
import type { Attachment } from '../../dataplanes/contract.ts';
import { NEEDS_WINGS } from '../../wings/testing/needs-wings.ts';
import { type StatusForm, statusView } from './status-view.ts';
import { detachedNames } from './trouble.ts';

const TABLES: readonly Attachment[] = [
  { place: 'nftables', name: 'table ip fairlead', isAttached: true },
  { place: 'nftables', name: 'table ip6 fairlead', isAttached: true },
];
const FAILURE = { code: 'X', message: 'the kernel says no', next: 'ask it nicely', atMs: 0 };

function page(more: Partial<StatusPage> = {}): StatusPage {
  return {
    ...snapshotWith({ rows: { desired: 5, applied: 5, pending: 0 }, atMs: 3_600_000 * 5 }),
    contents: { services: 2, frontends: 2500, endpoints: 1 },
    attachments: TABLES,
    ...more,
  };
}

function lines(page: StatusPage, form?: StatusForm): string[] {
  return stripVTControlCharacters(statusView(page, form)).split('\n');
}

function failing(names: readonly string[], why: string) {
  return conditionsWith(
    Object.fromEntries(names.map((name) => [name, { ...condition(false), why }])),
  );
}

describe('status of a healthy node', () => {
  it('is three lines: mode, contents of the kernel, propagation latency', () => {
    const received = { count: 12, p50Ms: 2.13, p90Ms: 5, p99Ms: 1_530, maxMs: 40 };
    const propagation = { received, triggered: received };
    assert.deepEqual(lines(page({ propagation })), [
      'node1: nftables, ready; 2 tables in place',
      'in the kernel: 2 Services, 2,500 frontends, 1 endpoint',
      'up 5 h; the last 12 changes to the kernel: median 2.1 ms, p99 1.5 s',
    ]);
  });

  it('names the hooks that are attached', NEEDS_WINGS, () => {
    const hook = (name: string): Attachment => ({ place: 'cgroup', name, isAttached: true });
    const interfaces: Attachment = { place: 'tc', name: 'eth0', isAttached: true };
    const attachments = [hook('connect4'), hook('connect6'), interfaces, ...TABLES];
    const [first] = lines(page({ mode: 'tc-ebpf', attachments }));
    assert.equal(first, 'node1: tc-ebpf, ready; attached: 2 socket hooks, 1 interface');
  });

  it('shows the tunnels of a machine that reaches pods through the API server', () => {
    const podTunnels = { open: 3, idle: 2, openedTotal: 9, connectionsTotal: 1_234, waiting: 0 };
    assert.equal(
      lines(page({ podTunnels })).at(-1),
      'pods through the API server: 3 tunnels (2 idle); 1,234 connections so far',
    );
    const full = { ...podTunnels, open: 256, idle: 0, waiting: 7 };
    assert.equal(
      lines(page({ podTunnels: full }), { width: 120 }).at(-1),
      'pods through the API server: 256 tunnels, 7 connections waiting for one; 1,234 connections so far',
    );
  });

  it('shows routes that Fairlead added, and nothing of ranges that others cover', () => {
    const serviceRoutes = [
      { range: '10.96.0.0/12', state: 'added' },
      { range: 'fd00:96::/108', state: 'covered', coveredBy: 'default via fd00::1 dev eth0' },
    ] as const;
    const [, , , line] = lines(page({ serviceRoutes }));
    assert.equal(line, 'routes to Service ranges, dev lo: 10.96.0.0/12');
    assert.equal(lines(page({ serviceRoutes: serviceRoutes.slice(1) })).length, 3);
  });

  it('fits 80 columns with every detail', () => {
    const text = lines(page(), { isVerbose: true });
    assert.ok(text.includes('IN THE KERNEL  ATTACHED  WHICH'));
    assert.ok(text.includes('0      service ports whose last write failed'));
    const { node } = page();
    const long = page({ node: { ...node, nodeName: `${'ip-10-0-0-1.'.repeat(4)}internal` } });
    for (const line of [...text, ...lines(long)]) assert.ok(line.length <= 80, line);
  });
});

describe('status of a machine with a scope', () => {
  const scope = { namespaces: ['shop', 'billing'], services: [], empty: [] };

  it('has a line each for zone and scope', () => {
    assert.deepEqual(lines(page({ zone: 'eu-1a', scope })).slice(3), [
      'zone: eu-1a',
      'scope: namespaces shop, billing',
    ]);
    const empty = ['namespace billing'];
    assert.equal(
      lines(page({ scope: { ...scope, empty } })).at(-1),
      'no Service found in namespace billing',
    );
  });

  it('names a forbidden part first, without claiming that no watch is left', () => {
    const conditions = failing(
      ['listed', 'apiFresh'],
      'not allowed to read Services of namespace b',
    );
    const health = { connected: false, lastHeardAtMs: 0, skippedCount: 0, lastError: '403' };
    const sources = [{ kind: 'service', ...health, forbidden: ['namespace b'] }] as const;
    const text = lines(page({ conditions, sources, scope }));
    assert.equal(
      text[0],
      '! a part of fairlead.scope cannot be read: not allowed to read Services of',
    );
    assert.ok(text.includes('node1: nftables, not ready; 2 tables in place'));
    assert.ok(!text.some((line) => line.includes('no watch')), text.join('\n'));
  });
});

describe('status of a node in trouble', () => {
  it('starts with problems and next steps, before the three lines', () => {
    const conditions = failing(['listed', 'firstSync'], 'waiting for services');
    assert.deepEqual(lines(page({ conditions })).slice(0, 6), [
      '! the initial lists from the API server are incomplete: waiting for services',
      '  next: wait if it has just started; else check that the API server is reachable',
      '  and that this account may list and watch',
      '',
      'node1: nftables, not ready; 2 tables in place',
      'in the kernel: 2 Services, 2,500 frontends, 1 endpoint',
    ]);
  });

  it('names the Service whose write fails, with the reason and the next step', () => {
    const row = { attempts: 5, firstFailedAtMs: 3_600_000 * 5 - 12_000, retryAtMs: 0 };
    const failingRows = [{ ...row, key: 'shop/web:http/TCP/IPv4', error: FAILURE }];
    const rows = { desired: 5, applied: 4, pending: 1 };
    const text = lines(page({ failingRows, failingRowCount: 1, rows }));
    assert.deepEqual(text.slice(0, 3), [
      '! shop/web:http/TCP/IPv4 is not in the kernel (tried 5 times in 12 s): the',
      '  kernel says no',
      '  next: ask it nicely',
    ]);
    assert.ok(text.includes('in the kernel: 4 of 5 service ports, 1 pending'));
  });

  it(
    'names programs and tables that are not attached, and why that cannot be read',
    NEEDS_WINGS,
    () => {
      const attachments: Attachment[] = [
        { place: 'cgroup', name: 'connect4', isAttached: false },
        { place: 'tc', name: 'eth0', isAttached: false },
        { place: 'nftables', name: 'table ip fairlead', isAttached: false },
      ];
      const [first, second] = lines(page({ mode: 'tc-ebpf', attachments }));
      const text = `${first}${second?.slice(1)}`;
      const what = 'socket hook connect4, program on interface eth0, nftables table ip fairlead';
      assert.equal(text, `! not in the kernel: ${what}`);
      const unread = lines(page({ attachments: [], attachmentsFailure: FAILURE }));
      assert.equal(unread[0], '! cannot read what is attached in the kernel: the kernel says no');
    },
  );

  it('names the process that made an external change, once', () => {
    const by = { pid: 812, program: 'nft' };
    const drift = { what: 'deleted table ip fairlead', by, atMs: 3_600_000 * 5 - 3_000 };
    const conditions = failing(['undisturbed'], drift.what);
    const text = lines(page({ conditions, drifts: [drift], driftCount: 1 }));
    const what = '! nft (pid 812) changed objects of fairlead 3 s ago: deleted table ip fairlead';
    assert.deepEqual(text.slice(0, 2), [
      what,
      '  next: repaired automatically; stop that program from changing them again',
    ]);
  });

  const NOW_MS = 3_600_000 * 5;
  const DELETED = { what: 'deleted table ip fairlead', by: { pid: 812, program: 'nft' } };
  const INSPECTED = {
    depth: 'reported',
    reason: 'drift',
    durationMs: 20,
    rowCount: 5,
    wrongCount: 5,
    writeCount: 0,
    differenceCount: 5,
    differences: [],
  } as const;

  it('is silent about an external change that is repaired', () => {
    const drifts = [{ ...DELETED, atMs: NOW_MS - 30_000 }];
    const about = { drifts, driftCount: 1, conditions: failing(['undisturbed'], DELETED.what) };
    const repaired = { ...about, lastInspection: { ...INSPECTED, atMs: NOW_MS - 29_000 } };
    assert.match(lines(page(repaired))[0] ?? '', /^node1: nftables, ready/);
    const before = { ...about, lastInspection: { ...INSPECTED, atMs: NOW_MS - 29_990 } };
    assert.match(lines(page(before))[0] ?? '', /^! nft \(pid 812\) changed objects/);
    const conditions = failing(['undisturbed', 'synced'], DELETED.what);
    assert.match(lines(page({ ...repaired, conditions }))[0] ?? '', /^! nft \(pid 812\) changed/);
  });

  it('names a process that changes objects again and again, although each is repaired', () => {
    const atMs = [50_000, 40_000, 39_900, 20_000].map((ago) => NOW_MS - ago);
    const drifts = atMs.map((each) => ({ ...DELETED, atMs: each }));
    const text = lines(page({ drifts, lastInspection: { ...INSPECTED, atMs: NOW_MS - 1 } }));
    assert.equal(
      `${text[0]}${text[1]?.slice(1)}`,
      '! nft (pid 812) keeps changing objects of fairlead, 3 times in the last minute: deleted table ip fairlead',
    );
  });

  it('gives the reason of a fallback, and promises no repair', NEEDS_WINGS, () => {
    const attachments: Attachment[] = [{ place: 'cgroup', name: 'connect4', isAttached: false }];
    const fallback = { ...FAILURE, from: 'packet hooks', to: 'nftables' };
    const drifts = [{ what: 'retrying packet hooks', isOwn: true, atMs: NOW_MS - 1_000 }] as const;
    const text = lines(page({ mode: 'tc-ebpf', attachments, fallback, drifts }));
    assert.deepEqual(text.slice(0, 4), [
      '! packet hooks cannot be used, nftables forwards everything: the kernel says no',
      '  next: ask it nicely',
      '',
      'node1: tc-ebpf, ready',
    ]);
    const lost: Attachment[] = [...attachments, { ...TABLES[0], isAttached: false } as Attachment];
    const both = page({ mode: 'tc-ebpf', attachments: lost, fallback });
    assert.deepEqual(detachedNames(both), ['nftables table ip fairlead']);
    assert.match(lines(both)[2] ?? '', /^! not in the kernel: nftables table ip fairlead$/);
  });

  it('names what the machine lacks, and fields of the configuration that wait for a restart', () => {
    const machine = [
      { code: 'IP_FORWARD_OFF', what: 'net.ipv4.ip_forward = 0', next: 'sysctl -w' },
    ];
    const text = lines(page({ machine, awaitsRestart: ['mode', 'ipvs.scheduler'] }));
    assert.deepEqual(text.slice(0, 5), [
      '! net.ipv4.ip_forward = 0',
      '  next: sysctl -w',
      '! the configuration file changed in mode, ipvs.scheduler: in force after a',
      '  restart',
      '  next: restart the pod of fairlead, or systemctl restart fairlead',
    ]);
  });

  it('has a sentence and a next step for each condition that is false', () => {
    for (const name of Object.keys(conditionsWith())) {
      if (name === 'connected' || name === 'timely' || name === 'synced') continue;
      // Without the first lists there was no first sync either.
      const names = name === 'listed' ? ['listed', 'firstSync'] : [name];
      const more =
        name === 'addressesServed' || name === 'nodePortsFree' || name === 'apiComplete'
          ? troubleOf(name)
          : {};
      const drifts = [{ what: 'it happened', atMs: 0 }];
      const conditions = failing(names, 'it happened');
      const text = lines(page({ conditions, drifts, driftCount: 1, ...more }));
      assert.match(text[0] ?? '', /^! .{20}/, name);
      assert.ok(
        text.some((line) => line.startsWith('  next: ')),
        name,
      );
      for (const line of text) assert.ok(line.length <= 80, line);
    }
  });

  it('asks for another range where a ClusterIP is outside of the ranges', () => {
    const why = 'it is outside of the configured Service ranges 10.96.0.0/12';
    const address = 'cluster-ip 8.8.8.8:80/TCP';
    const notServed = [{ service: 'shop/web', address, reason: 'outside-ranges', why }] as const;
    const text = lines(page({ notServed, conditions: failing(['addressesServed'], why) })).join(
      ' ',
    );
    assert.match(text, /! cluster-ip 8\.8\.8\.8:80\/TCP of shop\/web is not served/);
    assert.match(text, /add its range +to +fairlead\.serviceRanges/);
    assert.doesNotMatch(text, /addressRules/);
  });

  /** The sources of these three conditions. */
  function troubleOf(name: 'addressesServed' | 'nodePortsFree' | 'apiComplete') {
    if (name === 'apiComplete') return { apiServer: { gaps: [gapOf('ServiceCIDR', 'forbidden')] } };
    const none = {
      'other-service': 0,
      'service-range': 0,
      'outside-ranges': 0,
      'api-server': 0,
      'host-socket': 0,
    };
    const socket = { family: 'IPv4', protocol: 'TCP', address: '', port: 30_080 } as const;
    const conflicts = name === 'nodePortsFree' ? [{ service: 'shop/web', socket }] : [];
    const unserved = {
      service: 'shop/web:http',
      address: 'external-ip 10.0.0.1:80/TCP',
      reason: 'api-server',
      why: 'no',
    } as const;
    return {
      addresses: { notServed: none, conflicts },
      notServed: name === 'addressesServed' ? [unserved] : [],
    };
  }
});

describe('status of an API server', () => {
  const shown = (apiServer: ServerReport): string[] =>
    lines(page({ apiServer }), { isVerbose: true });

  it('shows its version, and missing features with reason and effect', () => {
    const text = shown({
      version: 'v1.33',
      emulatedBy: 'v1.36.4',
      gaps: [gapOf('ServiceCIDR', 'forbidden'), gapOf('streaming lists', 'not served')],
    });
    const at = text.indexOf('API server v1.33, emulated by v1.36.4');
    assert.deepEqual(text.slice(at + 1, at + 4), [
      'MISSING          REASON      EFFECT',
      'ServiceCIDR      forbidden   service ranges unknown, unused IPs not rejected',
      'streaming lists  not served  lists are read in pages',
    ]);
    const trouble = text.slice(0, 4).join(' ');
    assert.match(trouble, /no ServiceCIDR \(forbidden\).*next: .*system:node-proxier/);
    assert.doesNotMatch(trouble, /streaming/);
  });

  it('fits into 80 columns, whatever is missing', () => {
    const gaps = SERVER_FEATURES.map((feature) => gapOf(feature, 'not served'));
    for (const line of shown({ version: 'v1.33.4-gke.1172000', gaps })) {
      assert.ok(line.length <= 80, line);
    }
  });

  it('shows nothing for a complete API server', () => {
    assert.ok(!shown({ version: 'v1.37.1', gaps: [] }).join('\n').includes('API server'));
  });
});

describe('status of a node whose own process ended', () => {
  it('does not blame another process for the end of its own', () => {
    const drift = {
      what: 'the process ended',
      isOwn: true,
      atMs: 3_600_000 * 5 - 6_000,
    } as const;
    const conditions = failing(['undisturbed'], 'the process ended');
    const text = lines(page({ drifts: [drift], conditions }), { isVerbose: true });
    assert.equal(text[0], '! 6 s ago: the process ended');
    assert.ok(text.some((line) => /^6 s ago +fairlead itself +the process ended$/.test(line)));
  });
});
