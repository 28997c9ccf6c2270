import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Differences } from '../../../dataplanes/differences.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { RestoreProcess } from '../../../linux/iptables/restore-process.ts';
import { enterOwnNetwork } from '../../../linux/netlink/testing/own-namespace.ts';
import { IptablesError, type IptablesErrorCode } from '../../../linux/xtables/iptables-error.ts';
import { findAbilities } from './abilities.ts';
import { type Committer, ProgramCommitter } from './committer.ts';
import { FamilyTables } from './family-tables.ts';
import { asPlaneError } from './iptables-rejection.ts';
import type { TableChange } from './table-change.ts';
import { openNetfilter, Tools } from './testing/bring-iptables.ts';
import { frontend, INTERNAL, row, SETTING } from './testing/iptables-rows.ts';

beforeEach(enterOwnNetwork);

const PROGRAM = '/usr/sbin/xtables-nft-multi';

/** Fails on demand, before the kernel has any of it or after it has all. */
class Unsteady implements Committer, Disposable {
  readonly #process = new RestoreProcess({
    program: PROGRAM,
    family: 'IPv4',
    lockSeconds: 5,
    commitDeadlineMs: 60_000,
    idleMs: 60_000,
  });
  readonly #steady = new ProgramCommitter(this.#process);
  next: 'works' | 'is rejected' | 'is written without a word' = 'works';

  /** Called once, when the change is computed and not yet written. */
  before: (() => void) | undefined;

  async commit(changes: readonly TableChange[], onDone: (change: TableChange) => void) {
    const { next, before } = this;
    this.next = 'works';
    this.before = undefined;
    before?.();
    if (next === 'is rejected') throw failure('IPTABLES_REFUSED');
    const isTold = next === 'works';
    await this.#steady.commit(changes, isTold ? onDone : () => undefined);
    if (!isTold) throw failure('IPTABLES_UNCERTAIN');
  }

  [Symbol.dispose](): void {
    this.#process[Symbol.dispose]();
  }
}

function failure(code: IptablesErrorCode): unknown {
  return asPlaneError(new IptablesError(code, 'planted'));
}

function web(number: number, endpoint: string): Forwarding {
  const address = `10.96.1.${number}`;
  return row({
    name: `web${number}`,
    lists: ['cluster'],
    endpoints: [endpoint],
    frontends: [frontend('cluster-ip', { address, port: 80 }, INTERNAL('cluster'))],
  });
}

describe('the tables of a family', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  async function open(committer: Committer): Promise<FamilyTables> {
    await findAbilities(openNetfilter);
    const tables = new FamilyTables({ family: 'IPv4', program: PROGRAM, committer });
    await tables.inspect([], SETTING, new Differences());
    return tables;
  }

  const [one, two] = [web(1, '10.1.0.1:80'), web(2, '10.1.0.1:80')];
  const anotherOne = web(1, '10.1.0.2:80');

  it('stay uncertain for the rows of a commit without a response, whatever is written after it', async () => {
    using committer = new Unsteady();
    const tables = await open(committer);
    committer.next = 'is written without a word';
    await assert.rejects(tables.apply([change('absent', one)], SETTING), {
      code: 'IPTABLES_UNCERTAIN',
    });
    await tables.apply([change('absent', two)], SETTING);
    assert.equal(tables.isCertain, false);
    await tables.apply([change('unknown', anotherOne)], SETTING);
    assert.equal(tables.isCertain, true);
    tools.assertIsFamily([anotherOne, two], 'IPv4');
  });

  it('keep the rules that the kubelet adds to its chain after it was found missing', async () => {
    using committer = new Unsteady();
    await open(committer);
    const kubelets = ['KUBE-FIREWALL', '-d', '192.0.2.1/32', '-j', 'DROP'];
    for (const chain of ['INPUT', 'OUTPUT']) {
      tools.iptables('-t', 'filter', '-D', chain, '-j', 'KUBE-FIREWALL');
    }
    tools.iptables('-t', 'filter', '-F', 'KUBE-FIREWALL');
    tools.iptables('-t', 'filter', '-X', 'KUBE-FIREWALL');
    committer.before = () => {
      tools.iptables('-t', 'filter', '-N', 'KUBE-FIREWALL');
      tools.iptables('-t', 'filter', '-A', ...kubelets);
    };
    const tables = new FamilyTables({ family: 'IPv4', program: PROGRAM, committer });
    const inspect = () => tables.inspect([], SETTING, new Differences());
    await assert.rejects(inspect(), { code: 'IPTABLES_REFUSED' });
    await inspect();
    const found = tools.iptables('-t', 'filter', '-S', 'KUBE-FIREWALL');
    assert.ok(found.includes(kubelets.join(' ')), found);
  });

  it('keep their state when an inspection could not be written', async () => {
    using committer = new Unsteady();
    await (await open(committer)).apply([change('absent', one)], SETTING);
    const tables = new FamilyTables({ family: 'IPv4', program: PROGRAM, committer });
    const inspect = () => tables.inspect([anotherOne], SETTING, new Differences());
    assert.deepEqual(await inspect(), []);
    tools.iptables('-t', 'nat', '-X', 'KUBE-PROXY-CANARY');
    committer.next = 'is rejected';
    await assert.rejects(inspect(), { code: 'IPTABLES_REFUSED' });
    tools.iptables('-t', 'nat', '-N', 'KUBE-PROXY-CANARY');
    await tables.apply([change('unknown', anotherOne)], SETTING);
    tools.assertIsFamily([anotherOne], 'IPv4');
  });

  it('repair a row from its note if the caller does not know what an inspection found', async () => {
    using committer = new Unsteady();
    const tables = await open(committer);
    await tables.apply([change('absent', one)], SETTING);
    tools.iptables('-t', 'nat', '-D', 'KUBE-SERVICES', '1');
    // As when the other family is rejected: then the result of this one is lost.
    assert.deepEqual(await tables.inspect([one], SETTING, new Differences()), []);
    await tables.apply([change(one, anotherOne)], SETTING);
    tools.assertIsFamily([anotherOne], 'IPv4');
  });
});
