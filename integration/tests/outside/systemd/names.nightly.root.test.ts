import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DNS_DOMAIN } from '../../../../lab/real/plan.ts';
import { SECOND_DOMAIN } from '../../../../lab/servers/coredns.ts';
import { readMachine } from '../../../../lab/systemd/machine-state.ts';
import {
  CLUSTER_ANSWER,
  LAN_ANSWER,
  OTHER_NAME,
  type Outsider,
  startOutsider,
  WEB_NAME,
  WEB_POD,
} from '../../../../lab/systemd/outsider.ts';
import { walk } from '../../../../lab/systemd/stranger.ts';
import { Asker, isBelow } from './asker.ts';

const LONG_MS = 15 * 60_000;
/** Far below the 5 s after which systemd-resolved asks another server. */
const NO_DELAY_MS = 2_000;
const PATIENCE_SECONDS = 4;
/** For a second each: apply takes less time. */
const QUERIES_DURING_APPLY = 8;
const DROP_IN = '/etc/systemd/resolved.conf.d/cluster.conf';

describe('names of the cluster by systemd-resolved', { timeout: LONG_MS }, () => {
  let outsider: Outsider;
  let asker: Asker;
  let resolverBefore: readonly string[];
  const [dns4, dns6] = [0, 1].map((index) => () => outsider.dns.serviceAddresses[index] ?? '');

  before(async () => {
    outsider = await startOutsider();
    asker = new Asker(outsider);
    resolverBefore = (await readMachine(outsider.machine)).resolver;
  });

  after(async () => {
    await outsider?.[Symbol.asyncDispose]();
  });

  it('are asked of the LAN before anything is set up', async () => {
    const name = `web.default.svc.${SECOND_DOMAIN}`;
    const { lan, cluster } = await asker.during(() => asker.query(name));
    assert.ok(lan.includes(name));
    assert.deepEqual(cluster, []);
    await walk(outsider);
  });

  for (const domain of [SECOND_DOMAIN, DNS_DOMAIN]) {
    const name = `web.default.svc.${domain}`;

    it(`do not delay others while the cluster's DNS is silent, nor leak (${domain})`, async () => {
      await asker.shell(`fairlead outside dns apply --domain ${domain}`);
      const { daemon } = outsider.dns;
      daemon.freeze();
      try {
        const { lan } = await asker.during(async () => {
          const late = asker.isAnswered(name, PATIENCE_SECONDS);
          const started = performance.now();
          assert.deepEqual(await asker.query(OTHER_NAME), [LAN_ANSWER]);
          const duration = performance.now() - started;
          assert.ok(duration < NO_DELAY_MS, `${duration} ms`);
          assert.equal(await late, false);
        });
        assert.deepEqual(lan.filter(isBelow(domain)), []);
      } finally {
        daemon.thaw();
      }
      assert.ok(await asker.isAnswered(name, 30));
    });

    it(`are asked of nobody else while Fairlead is stopped (${domain})`, async () => {
      await asker.shell('systemctl stop fairlead && fairlead cleanup 2>&1');
      const { lan, cluster } = await asker.during(() => asker.isAnswered(name, PATIENCE_SECONDS));
      assert.deepEqual(lan.filter(isBelow(domain)), []);
      assert.deepEqual(cluster, []);
      await asker.shell('systemctl start fairlead');
      assert.ok(await asker.isAnswered(name, 30));
    });
  }

  for (const [what, script] of [
    ['is restarted', 'systemctl restart systemd-resolved'],
    ['is stopped and started', 'systemctl stop systemd-resolved; systemctl start systemd-resolved'],
    ['is killed', 'systemctl kill --signal=KILL systemd-resolved'],
  ] as const) {
    it(`are never asked of the LAN when systemd-resolved ${what}`, async () => {
      const name = `web.default.svc.${SECOND_DOMAIN}`;
      await asker.shell(`fairlead outside dns apply --domain ${SECOND_DOMAIN}`);
      const { lan } = await asker.during(async () => {
        await asker.shell(script);
        // The first answer comes when it runs again.
        assert.ok(await asker.isAnswered(name, 30));
        await asker.untilResolves(OTHER_NAME, LAN_ANSWER);
      });
      assert.deepEqual(lan.filter(isBelow(SECOND_DOMAIN)), []);
    });
  }

  it('are given up by undo, and the resolver is as before', async () => {
    assert.match(await asker.shell('fairlead outside dns undo'), /^names are resolved as before/);
    assert.deepEqual((await readMachine(outsider.machine)).resolver, resolverBefore);
    assert.equal(await asker.web(), '');
  });

  it('work with a server of IPv6 alone', async () => {
    const output = await asker.shell(`fairlead outside dns apply --server ${dns6?.()}`);
    assert.match(output, /^names of cluster\.local work/);
    assert.equal(await asker.web(), WEB_POD);
  });

  it('are not asked of a server that does not answer', async () => {
    const silent = '10.111.255.254';
    const command = `fairlead outside dns apply --server ${dns4?.()} --server ${silent}`;
    assert.match(
      await asker.shell(command),
      new RegExp(`^not used +${silent} does not answer$`, 'm'),
    );
    assert.equal(await asker.web(), WEB_POD);
  });

  it('are reported as not working if the domain is wrong', async () => {
    const argv = ['fairlead', 'outside', 'dns', 'apply', '--domain', 'other.test'] as const;
    const { exitCode, stdout } = await outsider.machine.tryRun(argv);
    assert.equal(exitCode, 3);
    assert.match(stdout, /are set up, but do not work yet/);
  });

  it('come with every other name by the usual drop-in, which is reported', async () => {
    await asker.shell('fairlead outside dns undo');
    await writeDropIn(`[Resolve]\nDNS=${dns4?.()}\nDomains=~${DNS_DOMAIN}\n`);
    const { cluster } = await asker.during(async () => {
      assert.equal(await asker.web(), WEB_POD);
      for (const _ of [1, 2, 3]) await asker.query(OTHER_NAME);
    });
    assert.ok(cluster.includes(OTHER_NAME), 'the drop-in confines names now: correct the docs');
    const answers = await asker.query(OTHER_NAME);
    assert.ok([CLUSTER_ANSWER, LAN_ANSWER].includes(answers[0] ?? ''));
    const { exitCode, stdout } = await outsider.machine.tryRun(['fairlead', 'outside', 'dns']);
    assert.equal(exitCode, 3);
    assert.match(stdout, /cluster\.conf makes/);
    assert.match(stdout, /Domains= does not confine DNS=/);
  });

  it('come without other names once the drop-in is gone', async () => {
    await rm(outsider.machine.path(dirname(DROP_IN)), { recursive: true });
    await asker.shell('systemctl restart systemd-resolved; fairlead outside dns apply');
    const { cluster } = await asker.during(async () => {
      for (const _ of [1, 2, 3]) assert.deepEqual(await asker.query(OTHER_NAME), [LAN_ANSWER]);
      assert.equal(await asker.web(), WEB_POD);
    });
    assert.ok(cluster.includes(WEB_NAME));
    assert.deepEqual(
      cluster.filter((name) => !isBelow(DNS_DOMAIN)(name)),
      [],
    );
  });

  // The hooks translate before the route is looked up, with the interface that the resolver has chosen.
  for (const mode of ['socket-ebpf', 'tc-ebpf']) {
    it(`work in mode ${mode}`, async () => {
      await asker.shell('fairlead outside off --cluster 2>&1');
      await asker.shell(`fairlead outside init --apply --mode ${mode} 2>&1`);
      assert.match(await asker.shell('fairlead status'), /attached: 8 socket hooks/);
      assert.match(
        await asker.shell('fairlead outside dns apply'),
        /^names of cluster\.local work/,
      );
      const url = `http://${WEB_NAME}/hostname`;
      for (const family of ['-4', '-6']) {
        // In a cgroup of the machine: the hooks are attached to its root.
        const curl = `systemd-run --quiet --pipe --wait curl -sS -m 5 ${family} ${url}`;
        assert.equal(await asker.shell(curl), WEB_POD);
      }
    });
  }

  // Last: systemd-resolved retries these names for minutes.
  it('are never asked of the LAN while apply is repeated and the DNS is silent', async () => {
    const apply = ['fairlead', 'outside', 'dns', 'apply', '--domain', SECOND_DOMAIN] as const;
    await outsider.machine.run(apply);
    const { daemon } = outsider.dns;
    daemon.freeze();
    try {
      const { lan } = await asker.during(async () => {
        const repeated = outsider.machine.tryRun(apply);
        for (let count = 0; count < QUERIES_DURING_APPLY; count++) {
          await asker.isAnswered(`again-${count}.default.svc.${SECOND_DOMAIN}`, 1);
        }
        assert.equal((await repeated).exitCode, 3);
      });
      assert.deepEqual(lan.filter(isBelow(SECOND_DOMAIN)), []);
    } finally {
      daemon.thaw();
    }
  });

  async function writeDropIn(text: string): Promise<void> {
    const path = outsider.machine.path(DROP_IN);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    await asker.shell('systemctl restart systemd-resolved');
  }
});
