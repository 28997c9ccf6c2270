import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import { KernelIpvs } from './kernel-ipvs.ts';
import { WITHOUT_IPVS } from './testing/load-ipvs.ts';

enterOwnNetwork();

describe('a kernel without IPVS', { skip: WITHOUT_IPVS ? false : 'the kernel has IPVS' }, () => {
  it('is told by the code of the error, with what to do', async () => {
    const ipvs = new KernelIpvs();
    const missing = { name: 'IpvsError', code: 'IPVS_MISSING', next: /modprobe ip_vs/ };
    const server = { protocol: 'TCP', address: '10.96.0.1', port: 80 } as const;
    await assert.rejects(ipvs.read(), missing);
    await assert.rejects(ipvs.fingerprint(), missing);
    await assert.rejects(ipvs.write([{ do: 'delete-server', server }]), missing);
    await assert.rejects(ipvs.destinationsOf([server]), missing);
    await assert.rejects(ipvs.timeouts(), missing);
  });
});
