import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Report } from '../doctor/doctor-report.ts';
import { enterOwnNetwork, run } from '../linux/netlink/testing/own-namespace.ts';
import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { runCommand } from './basis/testing/run-command.ts';
import { layNetwork, startAgent } from './doctor/testing/examined-node.ts';
import { doctorCommand } from './doctor-command.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.cGxhbnRlZA';
const PASSWORD = 'planted-password-4711';
const MAIN = join(import.meta.dirname, '../main.ts');

before(() => {
  enterOwnNetwork();
  layNetwork();
});

const doctor = (t: TestContext, ...args: string[]) => runCommand(t, doctorCommand(), args);

async function newFolder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-doctor-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

async function runFolderOfAgent(t: TestContext): Promise<string> {
  const agent = await startAgent();
  t.after(() => agent[Symbol.asyncDispose]());
  return agent.runFolder;
}

describe('fairlead doctor', () => {
  it('answers on the first line and by its exit code', async (t) => {
    const runFolder = await runFolderOfAgent(t);
    const well = await doctor(t, '--run-folder', runFolder);
    assert.equal(well.code, 0, well.out);
    assert.match(well.out, /^no problems; \d+ checks passed\n\nmode: nftables; can run here: /);
    const verbose = await doctor(t, '--run-folder', runFolder, '-v');
    assert.match(verbose.out, /^ok {2}ip-forward {2,}net\.ipv4\.ip_forward = 1/m);

    run(['sysctl', '-qw', 'net.ipv4.ip_forward=0']);
    const ill = await doctor(t, '--run-folder', runFolder);
    const json = await doctor(t, '--run-folder', runFolder, '-o', 'json');
    run(['sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    assert.equal(ill.code, 3);
    assert.match(ill.out, /^1 problem; \d+ checks passed\n\nproblem {2}IP_FORWARD_OFF\n/);
    assert.ok(
      ill.out.split('\n').every((line) => line.length <= 80),
      ill.out,
    );
    assert.equal(json.code, 3);
    const report = JSON.parse(json.out) as Report;
    assert.equal(report.verdict, 'problems');
    assert.equal(report.node, 'node1');
    const [found] = report.results.filter(({ level }) => level !== 'ok');
    assert.deepEqual([found?.check, found?.code], ['ip-forward', 'IP_FORWARD_OFF']);
    assert.ok(found?.why && found.next);
  });

  it('changes nothing', async (t) => {
    const runFolder = await runFolderOfAgent(t);
    const state = () =>
      [
        run(['nft', '-s', 'list', 'ruleset']),
        run(['sysctl', '-a', '-r', '^net\\.(ipv4|ipv6|bridge|netfilter)\\.(?!.*count)', '-e']),
        run(['ip', '-d', 'link']),
        run(['ip', 'route', 'show', 'table', 'all']),
        run(['ip', 'rule']),
      ].map(stable);
    const before = state();
    assert.equal((await doctor(t, '--run-folder', runFolder)).code, 0);
    assert.deepEqual(state(), before);
  });

  it('writes a bundle without credentials', async (t) => {
    const folder = await newFolder(t);
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, `users: [{ user: { token: ${TOKEN}, password: ${PASSWORD} } }]`);
    const runFolder = await runFolderOfAgent(t);
    // Rules may quote anything in their comments.
    run(['nft', `add table ip planted { comment "token=${TOKEN}"; }`]);
    t.after(() => run(['nft', 'delete', 'table', 'ip', 'planted']));
    const path = join(folder, 'bundle.tar.gz');
    const { code, err } = await doctor(t, '--run-folder', runFolder, '--bundle', path);
    assert.equal(code, 0);
    assert.match(err, /^wrote .*bundle\.tar\.gz/);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const bytes = gunzipSync(await readFile(path)).toString('utf8');
    for (const secret of [TOKEN, PASSWORD]) assert.ok(!bytes.includes(secret));
    assert.match(bytes, /comment "token=\(redacted\)"/);
    assert.match(bytes, /table ip fairlead/);
    assert.match(bytes, /"kind": "started"/);
    assert.match(bytes, /kubeproxy_sync_proxy_rules_/);
    assert.deepEqual(run(['tar', '-tzf', path]).trim().split('\n').sort(), [
      'fairlead-doctor/config.yaml',
      'fairlead-doctor/diff.json',
      'fairlead-doctor/doctor.json',
      'fairlead-doctor/doctor.txt',
      'fairlead-doctor/facts.json',
      'fairlead-doctor/history.json',
      'fairlead-doctor/log.txt',
      'fairlead-doctor/metrics.txt',
      'fairlead-doctor/network/links.txt',
      'fairlead-doctor/network/routes.txt',
      'fairlead-doctor/network/routes6.txt',
      'fairlead-doctor/network/rules.txt',
      'fairlead-doctor/rules/ip6tables-save-legacy.txt',
      'fairlead-doctor/rules/ip6tables-save-nft.txt',
      'fairlead-doctor/rules/iptables-save-legacy.txt',
      'fairlead-doctor/rules/iptables-save-nft.txt',
      'fairlead-doctor/rules/nft.txt',
      'fairlead-doctor/status.json',
      'fairlead-doctor/versions.json',
    ]);
  });

  it('says that the bundle cannot be written', async (t) => {
    const path = join(await newFolder(t), 'missing/bundle.tar.gz');
    const { code, err } = await doctor(t, '--run-folder', '/nonexistent', '--bundle', path);
    assert.equal(code, 1);
    assert.match(err, /cannot write the bundle to .*ENOENT[\s\S]*BUNDLE_NOT_WRITTEN/);
  });

  it('writes its bundle through no link, and over no file', async (t) => {
    const folder = await newFolder(t);
    const path = join(folder, 'bundle.tar.gz');
    await symlink(join(folder, 'target'), path);
    const { code, err } = await doctor(t, '--run-folder', '/nonexistent', '--bundle', path);
    assert.equal(code, 1);
    assert.match(err, /EEXIST[\s\S]*BUNDLE_NOT_WRITTEN/);
    assert.deepEqual(await readdir(folder), ['bundle.tar.gz']);
  });

  it('says what it could not ask without capabilities', NEEDS_WINGS, () => {
    const argv = [process.execPath, MAIN, 'doctor', '--run-folder', '/nonexistent', '-o', 'json'];
    const script = `setpriv --bounding-set=-all --inh-caps=-all "$@" || echo "exit $?"`;
    const out = run(['sh', '-c', script, 'sh', ...argv]);
    assert.match(out, /\nexit 1\n$/);
    const report = JSON.parse(out.replace(/exit 1\n$/, '')) as Report;
    assert.equal(report.verdict, 'incomplete');
    const unasked = report.results.filter(({ level }) => level === 'unasked');
    assert.deepEqual(
      [...new Set(unasked.map(({ code }) => code))],
      ['RULES_UNREAD', 'NOT_PERMITTED'],
    );
    assert.ok(unasked.every(({ next }) => next?.includes('as root')));
    assert.ok(unasked.some(({ check }) => check === 'foreign-chains'));
    assert.ok(report.results.some(({ check, level }) => check === 'ip-forward' && level === 'ok'));
  });

  it('does not answer for the agent of another network namespace', async (t) => {
    const runFolder = await runFolderOfAgent(t);
    const argv = [process.execPath, MAIN, 'doctor', '--run-folder', runFolder];
    const out = run(['sh', '-c', 'unshare -n "$@" 2>&1 || echo "exit $?"', 'sh', ...argv]);
    assert.match(out, /serves another network namespace/);
    assert.match(out, /nsenter -t \d+ -n fairlead doctor` \(OTHER_NETWORK\)\nexit 1/);
  });
});

/** Without ages and counters, and without link-local addresses, which the kernel adds a second after a link. */
function stable(text: string): string {
  const lines = text.split('\n').filter((line) => !line.includes('fe80:'));
  return lines.join('\n').replaceAll(/\b(expires|packets|bytes) \d+\w*/g, '$1');
}
