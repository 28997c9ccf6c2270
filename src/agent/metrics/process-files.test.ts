import assert from 'node:assert/strict';
import { it } from 'node:test';
import { networkBytes, softLimit, startSeconds, virtualMemoryBytes } from './process-metrics.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max open files            20000                524288               files
Max address space         unlimited            unlimited            bytes
`;
const NETSTAT = `TcpExt: SyncookiesSent InOctets
TcpExt: 0 5
IpExt: InNoRoutes InOctets OutOctets
IpExt: 1 402827 396318
`;

it('reads limits, with unlimited as in the Go library', () => {
  assert.equal(softLimit(LIMITS, 'Max open files'), 20_000);
  assert.equal(softLimit(LIMITS, 'Max address space'), 2 ** 64);
});

it('reads the bytes of the network namespace, and virtual memory', () => {
  assert.deepEqual(networkBytes(NETSTAT), { received: 402_827, sent: 396_318 });
  assert.equal(virtualMemoryBytes('Name:\tnode\nVmSize:\t    1000 kB\n'), 1_024_000);
});

it('reads the start of a process whose name has brackets and spaces', () => {
  const stat = `7 (a) b) S 1${' 0'.repeat(17)} 12345 99 0`;
  assert.equal(startSeconds(stat, 'cpu  1 2\nbtime 1700000000\nprocesses 3\n'), 1_700_000_123.45);
});
