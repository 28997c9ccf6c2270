import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IPVS_SCHEDULERS } from '../../config/ipvs-schedulers.ts';
import { FACTS, row } from '../../dataplanes/nftables/testing/nftables-rows.ts';
import type { Forwarding } from '../../forwarding/model.ts';
import { defaultScheduler, SCHEDULER_NAMES } from '../../forwarding/scheduler.ts';
import type { Page } from '../../modes/pages/rendered-page.ts';
import { ipvsPages, rawIpvs } from './ipvs-pages.ts';
import { schedulerWords } from './scheduler-words.ts';

const RR = defaultScheduler('rr');
const NODE = { IPv4: ['172.30.0.1'], IPv6: ['fd00:30::1'] };
const facts = { ...FACTS, nodePortAddresses: NODE };

function pageOf(row: Forwarding, scheduler = RR): Page {
  const [page] = ipvsPages({ facts, rows: [row] }, () => true, scheduler);
  assert.ok(page);
  return page;
}

function told(row: Forwarding): string[] {
  return (pageOf(row).words ?? []).map(({ about, text }) => `${about}: ${text}`);
}

describe('pages of the ipvs mode', () => {
  it('have the commands that make the virtual servers of a row', () => {
    const { commands, table } = pageOf(row({ endpointCount: 2 }));
    assert.equal(table, 'ip fairlead, behind IPVS');
    assert.deepEqual(commands?.lines, [
      'ipvsadm -A -t 10.96.0.2:80 -s rr',
      'ipvsadm -a -t 10.96.0.2:80 -r 10.244.1.1:8080 -m -w 1',
      'ipvsadm -a -t 10.96.0.2:80 -r 10.244.1.2:8080 -m -w 1',
      'ipvsadm -A -t 203.0.113.2:80 -s rr',
      'ipvsadm -a -t 203.0.113.2:80 -r 10.244.1.1:8080 -m -w 1',
      'ipvsadm -a -t 203.0.113.2:80 -r 10.244.1.2:8080 -m -w 1',
      'ipvsadm -A -t 172.30.0.1:30001 -s rr',
      'ipvsadm -a -t 172.30.0.1:30001 -r 10.244.1.1:8080 -m -w 1',
      'ipvsadm -a -t 172.30.0.1:30001 -r 10.244.1.2:8080 -m -w 1',
    ]);
  });

  it('write protocol, affinity, scheduler flags, weight and IPv6 as ipvsadm reads them', () => {
    const sticky = row({ family: 'IPv6', protocol: 'UDP', endpointCount: 1, affinitySeconds: 60 });
    const scheduler = { name: 'mh', flags: ['mh-fallback', 'mh-port'], weight: 7 };
    assert.deepEqual(pageOf({ ...sticky, scheduler }).commands?.lines.slice(0, 2), [
      'ipvsadm -A -u [fd00:96::2]:80 -s mh -p 60 -b mh-fallback,mh-port',
      'ipvsadm -a -u [fd00:96::2]:80 -r [fd00:244:1::1]:8080 -m -w 7',
    ]);
    const sctp = pageOf(row({ protocol: 'SCTP' })).commands?.lines[0];
    assert.equal(sctp, 'ipvsadm -A --sctp-service 10.96.0.2:80 -s rr');
  });

  it('name for each source who forwards, and which address the endpoint sees', () => {
    assert.deepEqual(told(row()), [
      "from a pod: to 10.96.0.2:80: by IPVS; the endpoint sees the client's address",
      ': to 203.0.113.2:80, node port 30001: by IPVS; the endpoint sees an address of this node',
      'from the node: by IPVS; the endpoint sees an address of this node',
      'from outside: by IPVS; the endpoint sees an address of this node',
      'choice: rr: each endpoint in turn',
      'an endpoint leaves: it gets weight 0: no new connections, and it is deleted after its last one',
    ]);
  });

  it('leave the pods of a Local frontend to the rules, and outside to IPVS', () => {
    const text = told(row({ shape: 'local' }));
    assert.deepEqual(text.slice(0, 2), [
      "from a pod: to 10.96.0.2:80: by IPVS; the endpoint sees the client's address",
      ": to 203.0.113.2:80, node port 30001: by the rules below; the endpoint sees the client's address",
    ]);
    assert.ok(
      text.includes(
        ": to 203.0.113.2:80, node port 30001: by IPVS, to an endpoint on this node; the endpoint sees the client's address",
      ),
    );
  });

  it('have no IPVS for a Service without endpoints', () => {
    const page = pageOf(row({ shape: 'no-endpoints' }));
    assert.equal(page.table, 'ip fairlead, without IPVS');
    assert.equal(page.commands, undefined);
    assert.deepEqual(
      page.words?.map(({ text }) => text),
      Array(3).fill('rejected by the rules below'),
    );
  });

  it('say that an annotation is ignored, and which node ports are not known', () => {
    const schedulerFault = 'fairlead.dev/ipvs-scheduler: rr has no flags, and "x" is given';
    assert.ok(told({ ...row(), schedulerFault }).includes(`ignored: annotation ${schedulerFault}`));
    const all = { ...FACTS, nodePortAddresses: { IPv4: 'all', IPv6: 'all' } as const };
    const [page] = ipvsPages({ facts: all, rows: [row()] }, () => true, RR);
    assert.ok(page?.words?.some(({ about }) => about === 'node port'));
  });

  it('say that a list is too long for IPVS', () => {
    const page = pageOf(row({ endpointCount: 2001 }));
    assert.equal(page.table, 'ip fairlead, without IPVS');
    assert.deepEqual(page.words?.at(-1), {
      about: 'without IPVS',
      text: '2,001 endpoints are more than the 2,000 that IPVS can take quickly: served by the rules below',
    });
  });

  it('start the path of a frontend that IPVS takes with IPVS, and of no other', () => {
    const ranged = pageOf(row({ allowedSources: ['10.0.0.0/8'] }));
    const first = ranged.frontends.map(({ path }) => path[0] === 'IPVS');
    assert.deepEqual(first, [true, false, true]);
  });
});

it('elements say whose connections IPVS takes', () => {
  const [first, second] = pageOf(row({ shape: 'local' })).frontends;
  const [element] = first?.elements ?? [];
  assert.equal(element?.text, '10.96.0.2 . tcp . 80 : 0x00000133');
  assert.equal(
    element.does,
    'table fairlead-ipvs: taken from pod, host (masqueraded), outside (masqueraded)',
  );
  assert.equal(second?.elements?.[0]?.does, 'table fairlead-ipvs: taken from outside');
});

it('raw output has the table and the virtual servers of one family', () => {
  const rows = [row({ endpointCount: 1 }), row({ number: 2, family: 'IPv6', endpointCount: 1 })];
  const text = rawIpvs({ facts, rows }, 'IPv6', RR);
  assert.match(text, /^table ip6 fairlead-ipvs \{\n/);
  assert.match(text, /fd00:96::3 \. tcp \. 80 : 0x00000133/);
  assert.match(text, /\n\}\nipvsadm -A -t \[fd00:96::3\]:80 -s rr\n/);
  assert.doesNotMatch(text, /10\.96/);
  assert.doesNotMatch(rawIpvs({ facts, rows: [] }, 'IPv4', RR), /ipvsadm/);
});

it('every scheduler that the configuration accepts can be named by an annotation, and has words', () => {
  assert.deepEqual(IPVS_SCHEDULERS, SCHEDULER_NAMES);
  for (const name of SCHEDULER_NAMES) {
    assert.doesNotMatch(schedulerWords({ name, flags: [] }), /as the kernel does/, name);
  }
});
