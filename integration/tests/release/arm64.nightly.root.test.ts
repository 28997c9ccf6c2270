import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run, tryRun } from '../../../lab/host/run.ts';

const root = join(import.meta.dirname, '../../..');
/** Debian's package qemu-user-static. It is called by name: no handler of the kernel is registered. */
const EMULATOR = 'qemu-aarch64-static';
const FETCH_MS = 300_000;
const EMULATED_MS = 120_000;

const CALL_LIBC = `
import koffi from 'koffi';
const getpid = koffi.load(null).func('int getpid()');
console.log(process.arch, getpid() === process.pid);
`;

/** What encodes and decodes messages for the kernel, and needs no package for this machine. */
const CODECS = [
  'src/linux/netlink/reader.test.ts',
  'src/linux/netlink/netlink-writer.test.ts',
  'src/linux/nftables/batch.test.ts',
  'src/linux/nftables/fields.test.ts',
  'src/linux/nftables/userdata.test.ts',
];

describe('the image for arm64, by an emulator', () => {
  let image: string;
  before(async () => {
    image = join(await mkdtemp(join(tmpdir(), 'fairlead-arm64-')), 'image');
    const program = join(root, 'tools/image/main.ts');
    await run([process.execPath, program, '--architecture', 'arm64', '--tree', image], {
      cwd: root,
      deadlineMs: FETCH_MS,
    });
  });
  after(() => rm(join(image, '..'), { recursive: true }));

  /** Loader and libraries are those of the image. */
  async function emulate(program: string, ...args: string[]): Promise<string> {
    return await run([EMULATOR, '-L', image, join(image, program), ...args], {
      cwd: root,
      deadlineMs: EMULATED_MS,
      // Else a test file reports to the runner of this test, in its own format.
      env: { NODE_TEST_CONTEXT: '' },
    });
  }

  const node = async (...args: string[]) => await emulate('usr/local/bin/node', ...args);
  const home = () => join(image, 'usr/local/lib/fairlead');
  const fairlead = async (...args: string[]) => await node(join(home(), 'fairlead.mjs'), ...args);

  it('starts, and prints its version', async () => {
    assert.match(await fairlead('--version'), /^fairlead \d+\.\d+\.\d+$/m);
  });

  it('says what a node does with Services of a manifest', async () => {
    const path = join(image, '../web.yaml');
    await writeFile(path, WEB);
    assert.match(await fairlead('services', '-f', path), /10\.96\.0\.50/);
  });

  it('loads koffi, and calls the C library', async () => {
    const script = join(home(), 'call-libc.mjs');
    await writeFile(script, CALL_LIBC);
    assert.equal(await node(script), 'arm64 true\n');
  });

  it('starts both programs of iptables', async () => {
    // More than their names would need sockets of netfilter, which the emulator does not have.
    for (const backend of ['nft', 'legacy']) {
      const program = join(image, `usr/local/bin/xtables-${backend}-multi`);
      const { stdout, stderr } = await tryRun([EMULATOR, '-L', image, program], {
        deadlineMs: EMULATED_MS,
      });
      assert.match(`${stdout}${stderr}`, /Valid subcommands:(?:.*\n)*? \* iptables-save/, backend);
    }
  });

  for (const path of CODECS) {
    it(`passes ${path}`, async () => {
      assert.match(await node('--test-reporter=tap', join(root, path)), /^# fail 0$/m);
    });
  }
});

const WEB = `
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec:
  clusterIP: 10.96.0.50
  clusterIPs: [10.96.0.50]
  ipFamilies: [IPv4]
  ports: [{ port: 80, protocol: TCP }]
`;
