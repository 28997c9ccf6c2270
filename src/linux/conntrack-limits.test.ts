import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  type ConntrackLimits,
  countCpus,
  onlineCpuCount,
  planLimits,
  setConntrackLimits,
  wantedSettings,
} from './conntrack-limits.ts';
import type { Sysctls } from './sysctl.ts';
import { sysctlError } from './sysctl-error.ts';
import { readSysctlState } from './sysctl-state.ts';

const PREFIX = 'net/netfilter/nf_conntrack_';
/** The defaults of kube-proxy. */
const DEFAULTS: ConntrackLimits = {
  maxPerCore: 32_768,
  min: 131_072,
  tcpEstablishedTimeoutMs: 86_400_000,
  tcpCloseWaitTimeoutMs: 3_600_000,
  tcpBeLiberal: false,
};
const NOTHING: ConntrackLimits = { min: 131_072, tcpBeLiberal: false };

function wanted(limits: ConntrackLimits, cpuCount: number): Record<string, number> {
  const all = wantedSettings(limits, cpuCount);
  return Object.fromEntries(all.map(({ name, value }) => [name.replace(PREFIX, ''), value]));
}

/** Settings in memory; those in `rejects` cannot be written, and sizes are rounded up to 512. */
function memory(values: Readonly<Record<string, string>>, rejects: readonly string[] = []) {
  const all = new Map(Object.entries(values).map(([name, value]) => [PREFIX + name, value]));
  const read = (name: string): string => {
    const value = all.get(name);
    if (value !== undefined) return value;
    throw sysctlError('read', Object.assign(new Error('missing'), { code: 'ENOENT' }));
  };
  const sysctls: Sysctls = {
    read,
    write: (name, value) => {
      const before = read(name);
      if (rejects.includes(name.replace(PREFIX, ''))) {
        throw sysctlError('write', Object.assign(new Error('read-only'), { code: 'EROFS' }));
      }
      const rounded = name.endsWith('buckets') ? Math.ceil(Number(value) / 512) * 512 : value;
      all.set(name, String(rounded));
      return { name, before, after: String(rounded) };
    },
  };
  return { all, sysctls };
}

async function inFolder(work: (statePath: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-limits-'));
  try {
    await work(join(folder, 'sysctls.json'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('wanted limits', () => {
  it('are those of kube-proxy by default', () => {
    const timeouts = { tcp_timeout_established: 86_400, tcp_timeout_close_wait: 3_600 };
    assert.deepEqual(wanted(DEFAULTS, 2), { max: 131_072, buckets: 32_768, ...timeouts });
    assert.deepEqual(wanted(DEFAULTS, 8), { max: 262_144, buckets: 65_536, ...timeouts });
  });

  it('grow with the cores up to a cap, which a minimum does not raise', () => {
    assert.equal(wanted(DEFAULTS, 32)['max'], 1_048_576);
    assert.equal(wanted(DEFAULTS, 33)['max'], 1_048_576);
    assert.equal(wanted({ ...DEFAULTS, min: 2_000_000 }, 32)['max'], 2_000_000);
    assert.equal(wanted({ ...DEFAULTS, min: 2_000_000 }, 33)['max'], 1_048_576);
  });

  it('omit what is not configured', () => {
    assert.deepEqual(wanted(NOTHING, 4), {});
    assert.deepEqual(wanted({ ...NOTHING, maxPerCore: 0, udpTimeoutMs: 0 }, 4), {});
  });

  it('have the options that are off by default', () => {
    const limits = { ...NOTHING, tcpBeLiberal: true, udpTimeoutMs: 1_900, udpStreamTimeoutMs: 500 };
    assert.deepEqual(wanted(limits, 1), {
      tcp_be_liberal: 1,
      udp_timeout: 1,
      // Not 0, which would expire entries at once.
      udp_timeout_stream: 1,
    });
  });
});

describe('a plan for limits', () => {
  const settings = wantedSettings(DEFAULTS, 2);

  it('is empty when all values are as desired, or the hash table is larger', () => {
    const current = new Map(settings.map(({ name, value }) => [name, String(value)]));
    assert.deepEqual(planLimits(settings, current), []);
    current.set(`${PREFIX}buckets`, '1000000');
    assert.deepEqual(planLimits(settings, current), []);
  });

  it('lowers a maximum, as upstream does, and raises the hash table', () => {
    const current = new Map([
      [`${PREFIX}max`, '1000000'],
      [`${PREFIX}buckets`, '1024'],
    ]);
    assert.deepEqual(planLimits(settings, current), [
      { name: `${PREFIX}max`, before: '1000000', after: '131072' },
      { name: `${PREFIX}buckets`, before: '1024', after: '32768' },
    ]);
  });

  it('omits values that cannot be read', () => {
    assert.deepEqual(planLimits(settings, new Map()), []);
  });
});

describe('setting limits', () => {
  const limits = { ...DEFAULTS, cpuCount: 2, min: 1000, maxPerCore: 1000 };
  const kernel = { max: '262144', buckets: '64', tcp_timeout_established: '432000' };

  it('changes what differs, and saves the value that the kernel rounded to', async () => {
    await inFolder(async (statePath) => {
      const { all, sysctls } = memory(kernel, ['tcp_timeout_established']);
      const { changes, problems } = await setConntrackLimits(limits, sysctls, statePath);
      assert.deepEqual(changes, [
        { name: `${PREFIX}max`, before: '262144', after: '2000' },
        { name: `${PREFIX}buckets`, before: '64', after: '512' },
      ]);
      // The one that is not there at all comes first: it is found while reading.
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['SYSCTL_MISSING', 'SYSCTL_READ_ONLY'],
      );
      assert.equal(all.get(`${PREFIX}max`), '2000');
      const state = await readSysctlState(statePath);
      assert.deepEqual(
        [...state],
        [
          [`${PREFIX}buckets`, { before: '64', after: '512' }],
          [`${PREFIX}max`, { before: '262144', after: '2000' }],
        ],
      );
    });
  });

  it('keeps the first values over a second start with another configuration', async () => {
    await inFolder(async (statePath) => {
      const { sysctls } = memory(kernel);
      await setConntrackLimits(limits, sysctls, statePath);
      await setConntrackLimits(limits, sysctls, statePath);
      await setConntrackLimits({ ...limits, maxPerCore: 5000 }, sysctls, statePath);
      const state = await readSysctlState(statePath);
      assert.deepEqual(state.get(`${PREFIX}max`), { before: '262144', after: '10000' });
    });
  });

  it('continues when nothing can be saved, and reports it once', async () => {
    const { all, sysctls } = memory({ ...kernel, tcp_timeout_close_wait: '60' });
    const result = await setConntrackLimits(limits, sysctls, '/dev/null/sysctls.json');
    assert.equal(all.get(`${PREFIX}max`), '2000');
    assert.ok(result.problems.every(({ code }) => code === 'SYSCTL_STATE'));
    assert.equal(result.changes.length, 4);
  });

  it('saves everything before it changes anything', async () => {
    await inFolder(async (statePath) => {
      const { sysctls } = memory(kernel);
      const dying: Sysctls = {
        ...sysctls,
        write: () => {
          throw new Error('the process ends here');
        },
      };
      await assert.rejects(setConntrackLimits(limits, dying, statePath));
      const state = await readSysctlState(statePath);
      assert.equal(state.get(`${PREFIX}max`)?.before, '262144');
    });
  });
});

describe('the number of processors', () => {
  it('is counted from a list of the kernel', () => {
    assert.equal(countCpus('0\n'), 1);
    assert.equal(countCpus('0-3,8,10-11\n'), 7);
    assert.equal(countCpus('\n'), 0);
  });

  it('is at least one', () => {
    assert.ok(onlineCpuCount() >= 1);
  });
});
