import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ipBatch, namespaceName } from '../../../lab/host/namespaces.ts';
import { until } from '../../../lab/host/until.ts';
import { FAMILIES, type Family, nodeAddress, SERVICE_CIDR } from '../../../lab/network/plan.ts';
import type { RangeRoute } from '../../../src/agent/service-routes.ts';
import type { StatusPage } from '../../../src/agent/status-page.ts';
import { HEALTH_PORT, OutsideScene, POD, SERVICE_PORT } from './scene.ts';

const LONG_MS = 180_000;
const DEADLINE_MS = 10_000;
const SERVED = `answered by ${POD}`;

/** A machine whose only routes are those to the nodes, the pods and its own network. */
export function testServiceRoutes(variant: string): void {
  describe(`${variant} on a machine without a default route`, { timeout: LONG_MS }, () => {
    let scene: OutsideScene;
    const onMachine = (...lines: string[]): Promise<unknown> =>
      ipBatch(lines, namespaceName({ lab: scene.lab.name, role: 'machine' }));

    before(async () => {
      scene = await OutsideScene.start(variant);
      // The lab's own rules by source address lead to the tables of the nodes.
      for (const table of ['main', '1001']) {
        await onMachine(`route del 0.0.0.0/0 table ${table}`, `route del ::/0 table ${table}`);
      }
    });

    after(async () => {
      await scene?.[Symbol.asyncDispose]();
    });

    for (const family of FAMILIES) {
      const toService = () => ({ address: scene.clusterIP(family), port: SERVICE_PORT });
      const everywhere = family === 'ipv4' ? '0.0.0.0/0' : '::/0';

      it(`serves ClusterIPs to its own sockets (${family})`, async () => {
        await untilRoute(family, 'added');
        assert.equal(await scene.ask('machine', toService()), SERVED);
      });

      it(`does not make the range addresses of the machine (${family})`, async () => {
        const to = { address: unserved(scene.clusterIP(family)), port: HEALTH_PORT };
        const outcome = await scene.ask('machine', to);
        assert.ok(!outcome.startsWith('answered') && outcome !== 'refused', outcome);
      });

      it(`leaves the range to a default route that comes (${family})`, async () => {
        const via = `via ${nodeAddress(1)[family]}`;
        await onMachine(`route add ${everywhere} ${via}`);
        await untilRoute(family, 'covered');
        assert.equal(await scene.ask('machine', toService()), SERVED);
        await onMachine(`route del ${everywhere} ${via}`);
        await untilRoute(family, 'added');
        assert.equal(await scene.ask('machine', toService()), SERVED);
      });
    }

    async function untilRoute(family: Family, state: RangeRoute['state']): Promise<void> {
      const isSo = async (): Promise<boolean> => {
        const { serviceRoutes = [] } = (await scene.snapshot()) as StatusPage;
        return serviceRoutes.some((each) => {
          return each.range === SERVICE_CIDR[family] && each.state === state;
        });
      };
      await until(isSo, { what: `the ${family} range to be ${state}`, deadlineMs: DEADLINE_MS });
    }
  });
}

/** The last address of the range: no Service has it. */
function unserved(clusterIP: string): string {
  return clusterIP.includes(':') ? clusterIP.replace(/[^:]*$/, 'fffe') : '10.111.255.254';
}
