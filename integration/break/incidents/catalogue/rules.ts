import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { enterNamespace } from '../../../../lab/host/namespaces.ts';
import { startDaemon } from '../../../../lab/host/processes.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';
import { findProxy } from '../../../../lab/proxies/registry.ts';
import type { Incident } from '../incident.ts';
import type { IncidentScene } from '../scene.ts';
import { FROM_CART, WEB } from '../shop.ts';

const TO_WEB = { from: 'cart', to: `${WEB}:80` } as const;
const TYPED = `explain shop/web:http ${FROM_CART}`;
const KUBE_PROXY_DEADLINE_MS = 60_000;

/** Rules of other programs, and other programs at Fairlead's rules. */
export const RULE_INCIDENTS: readonly Incident[] = [
  {
    name: 'a rule of a firewall drops',
    produce: async (scene, undo) => {
      await plant(scene, undo, {
        table: 'inet firewall',
        chains:
          'chain deny { tcp dport 8080 drop; }; chain guard { type filter hook forward priority 0; jump deny; }',
      });
    },
    client: TO_WEB,
    gets: ['timed out'],
    explain: {
      typed: TYPED,
      code: 'DROPPED_BY_RULE',
      exit: 4,
      says: /chain deny, table inet firewall/,
      // The number that nft prints is a handle.
      saysNot: /rule \d/,
      cause: /tcp dport 8080 drop/,
      most: 1,
      next: { names: /nft .*inet firewall deny/, typed: 'shows' },
    },
    doctor: {
      code: 'FOREIGN_DROP_RULES',
      tells: /tcp dport 8080 drop/,
      next: /inet firewall deny/,
    },
    notIn: { userspace: 'its forwarder connects to endpoints itself: nothing is forwarded' },
  },
  {
    name: 'a rule of a firewall rejects',
    produce: async (scene, undo) => {
      await plant(scene, undo, {
        table: 'inet firewall',
        chains:
          'chain deny { meta l4proto tcp reject with tcp reset; }; chain guard { type filter hook forward priority 0; tcp dport 8080 goto deny; }',
      });
    },
    client: TO_WEB,
    gets: ['refused'],
    explain: {
      typed: TYPED,
      code: 'REFUSED_BY_RULE',
      exit: 4,
      says: /rejected.*chain deny, table inet firewall/,
      saysNot: /rule \d/,
      tellsNot: /inet firewall deny[^:]*: drop/,
      cause: /reject with tcp reset/,
      most: 1,
      next: { names: /nft .*inet firewall deny/, typed: 'shows' },
    },
    doctor: {
      code: 'FOREIGN_DROP_RULES',
      tells: /reject with tcp reset/,
      next: /inet firewall deny/,
    },
    notIn: { userspace: 'its forwarder connects to endpoints itself: nothing is forwarded' },
  },
  {
    name: 'iptables -A FORWARD -j DROP',
    produce: async (scene, undo) => {
      const rule = ['-p', 'tcp', '--dport', '8080', '-j', 'DROP'] as const;
      await keepTables(scene, undo);
      await scene.on('node1', 'iptables-nft', '-A', 'FORWARD', ...rule);
      undo.defer(async () => {
        await scene.on('node1', 'iptables-nft', '-D', 'FORWARD', ...rule);
      });
    },
    client: TO_WEB,
    gets: ['timed out'],
    explain: {
      typed: TYPED,
      code: 'DROPPED_BY_RULE',
      exit: 4,
      says: /chain FORWARD, table ip filter/,
      cause: /dport 8080/,
      most: 1,
      next: { names: /FORWARD/, typed: 'shows' },
    },
    doctor: { code: 'FOREIGN_DROP_RULES', tells: /FORWARD/ },
    notIn: { userspace: 'its forwarder connects to endpoints itself: nothing is forwarded' },
  },
  {
    name: 'forward policy drop, as Docker sets it',
    produce: async (scene, undo) => {
      await plant(scene, undo, {
        table: 'ip docker',
        chains: 'chain forward { type filter hook forward priority 0; policy drop; }',
      });
    },
    client: TO_WEB,
    gets: ['timed out'],
    explain: {
      typed: TYPED,
      code: 'DROPPED_BY_RULE',
      exit: 4,
      says: /policy.*chain forward, table ip docker/,
      cause: /policy/,
      next: { names: /nft .*ip docker/, typed: 'shows' },
    },
    doctor: { code: 'FOREIGN_POLICY_DROP', tells: /docker/ },
    notIn: { userspace: 'its forwarder connects to endpoints itself: nothing is forwarded' },
  },
  {
    name: 'nft flush ruleset, once',
    produce: async (scene) => {
      await scene.on('node1', 'nft', 'flush', 'ruleset');
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: {
      typed: TYPED,
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      cause: /nft/,
    },
    doctor: { code: 'RULES_CHANGED_BY_OTHERS', tells: /nft/ },
    // A repair takes a fraction of a second: nothing else may be taken for its time.
    also: [{ typed: 'history', tells: /nft/, not: /after \d\d[\d.]* s/ }],
    notIn: {
      iptables: 'its rules are watched by reading them again, which no process is known from',
    },
  },
  {
    name: 'nft flush ruleset while the agent is stuck',
    produce: async (scene, undo) => {
      const agent = scene.agent('node1');
      agent.freeze();
      undo.defer(() => agent.thaw());
      await scene.on('node1', 'nft', 'flush', 'ruleset');
    },
    client: TO_WEB,
    gets: ['timed out'],
    explain: {
      typed: `explain shop/web:http --from host`,
      code: ['NOT_RUNNING', 'NOT_IN_KERNEL'],
      exit: 3,
      says: /agent|kernel/,
      cause: /not answer|silent|stopped/,
    },
    doctor: { code: 'AGENT_SILENT' },
    notIn: {
      'socket-ebpf': 'its programs go on',
      'tc-ebpf': 'its programs go on',
      userspace: 'its forwarder goes on',
    },
  },
  {
    name: 'iptables -F',
    produce: async (scene, undo) => {
      await keepTables(scene, undo);
      await scene.on('node1', 'iptables-nft', '-F');
      await scene.on('node1', 'iptables-nft', '-t', 'nat', '-F');
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: { typed: TYPED, code: 'REACHES', exit: 0, says: /reaches/, cause: /REACHES/ },
  },
  {
    name: 'kube-proxy runs too',
    produce: startKubeProxy,
    client: TO_WEB,
    gets: ['answered'],
    explain: { typed: TYPED, code: 'REACHES', exit: 0, says: /reaches/, cause: /kube-proxy/ },
    doctor: { code: 'OTHER_PROXY', tells: /kube-proxy/ },
    notIn: { iptables: 'both write the same chains, and the agent would not rest' },
  },
];

async function plant(
  scene: IncidentScene,
  undo: AsyncDisposableStack,
  { table, chains }: { readonly table: string; readonly chains: string },
): Promise<void> {
  await scene.nft('node1', `table ${table} { ${chains}; }`);
  undo.defer(() => scene.nft('node1', `delete table ${table}`));
}

/** Removes the tables that iptables makes where there are none. */
async function keepTables(scene: IncidentScene, undo: AsyncDisposableStack): Promise<void> {
  const before = await tablesOf(scene);
  undo.defer(async () => {
    const added = (await tablesOf(scene)).filter((table) => !before.includes(table));
    for (const table of added) await scene.nft('node1', `delete ${table}`);
  });
}

async function tablesOf(scene: IncidentScene): Promise<string[]> {
  const text = await scene.on('node1', 'nft', 'list', 'tables');
  return text.split('\n').filter((line) => line !== '');
}

/** The real one, in mode nftables, with ports of its own. */
async function startKubeProxy(scene: IncidentScene, undo: AsyncDisposableStack): Promise<void> {
  const { lab } = scene;
  const folder = join(lab.folder, 'proxies', 'second');
  await mkdir(folder, { recursive: true });
  const variant = findProxy('upstream-nftables');
  const { credentials } = lab;
  const command = await variant.prepare({ nodeName: 'node1', credentials, folder, settings: {} });
  const file = join(folder, 'kube-proxy.json');
  const configuration = JSON.parse(await readFile(file, 'utf8')) as object;
  const ports = { healthzBindAddress: '127.0.0.1:10356', metricsBindAddress: '127.0.0.1:10349' };
  await writeFile(file, JSON.stringify({ ...configuration, ...ports }));
  const path = lab.namespacePath('node1');
  const daemon = startDaemon({
    name: 'kube-proxy beside Fairlead',
    namespacePath: path,
    argv: command.argv,
    env: command.env,
    logFile: join(lab.folder, 'logs', 'second-proxy.log'),
  });
  undo.defer(async () => {
    await daemon.kill();
    const [program] = command.argv;
    await run(enterNamespace(path, [program, '--cleanup']), { env: command.env });
  });
  const isWritten = async (): Promise<boolean> => {
    const text = await scene.on('node1', 'sh', '-c', 'nft list table ip kube-proxy; true');
    return text.includes(WEB);
  };
  const what = 'the rules of kube-proxy';
  await until(isWritten, { what, deadlineMs: KUBE_PROXY_DEADLINE_MS, signal: scene.signal });
}
