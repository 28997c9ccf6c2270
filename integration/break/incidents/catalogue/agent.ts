import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../../../../lab/host/errors.ts';
import { run } from '../../../../lab/host/run.ts';
import { until } from '../../../../lab/host/until.ts';
import type { Incident } from '../incident.ts';
import { type IncidentScene, NODES } from '../scene.ts';
import { FROM_CART, WEB } from '../shop.ts';
import { addService } from '../shop-objects.ts';
import { typeCommand } from '../type-command.ts';

const TO_WEB = { from: 'cart', to: `${WEB}:80` } as const;
const TYPED = `explain shop/web:http ${FROM_CART}`;
const API_DEADLINE_MS = 90_000;
const RELOAD_DEADLINE_MS = 30_000;
const NO_PROGRAMS = 'it has no programs at a cgroup';

/** What happens to the agent of node1, and to what it depends on. */
export const AGENT_INCIDENTS: readonly Incident[] = [
  {
    name: 'nothing is wrong',
    produce: async () => undefined,
    client: TO_WEB,
    gets: ['answered'],
    explain: {
      typed: TYPED,
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      // What was repaired half a minute ago is over.
      tellsNot: /trouble/,
      cause: /REACHES/,
    },
    also: [{ typed: 'doctor', tells: /checks passed/, not: /\d problem/, exit: 0 }],
  },
  {
    name: 'agent is stuck (SIGSTOP)',
    produce: async (scene, undo) => {
      const agent = scene.agent('node1');
      agent.freeze();
      undo.defer(() => agent.thaw());
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: {
      typed: TYPED,
      code: 'AGENT_SILENT',
      exit: 5,
      says: /agent.*(not answer|stopped|stuck)|not answer/,
      cause: /stopped|SIGSTOP|stuck|not answer/,
    },
    doctor: { code: 'AGENT_SILENT' },
  },
  {
    name: 'agent killed, its rules are left',
    produce: async (scene, undo) => {
      await scene.agent('node1').kill();
      undo.defer(() => scene.agent('node1').startAgain());
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: {
      typed: TYPED,
      code: 'AGENT_GONE',
      exit: 5,
      // The rows are those of the cluster, and nobody keeps the kernel's as they are.
      says: /agent/,
      cause: /no agent|agent .*(dead|not run|ended|killed)/,
    },
    doctor: { code: 'AGENT_DEAD', tells: /rules/ },
    notIn: { userspace: 'the forwarder ends with the agent, and nftables serves' },
  },
  {
    name: 'agent killed, and cleaned up',
    produce: async (scene, undo) => {
      await scene.agent('node1').kill();
      undo.defer(() => scene.agent('node1').startAgain());
      const { exit, text } = await typeCommand(scene, 'fairlead cleanup');
      if (exit !== 0) {
        const next = 'type it in a lab: npm run lab -- fairlead node1 cleanup';
        throw new LabError('LAB_COMMAND_FAILED', `fairlead cleanup: ${text}`, { next });
      }
    },
    client: TO_WEB,
    gets: ['timed out'],
    explain: {
      typed: TYPED,
      code: 'NOT_RUNNING',
      exit: 3,
      says: /no agent|not run|nothing .*runs/i,
      cause: /no agent|not run|none of (its|the) rules|no rules/i,
      next: { names: /start|fairlead run|systemctl|kubectl/ },
    },
    doctor: { code: 'AGENT_ABSENT' },
  },
  {
    name: 'run folder is full',
    produce: fillRunFolder,
    client: { from: 'cart', to: '10.96.55.1:80' },
    gets: ['answered'],
    explain: {
      typed: `explain shop/after ${FROM_CART}`,
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      cause: /REACHES/,
    },
    also: [{ typed: 'history', tells: /shop\/after/, exit: 0 }],
    notIn: {
      userspace:
        'its forwarder outlives an agent, and is found by the folder that is replaced here',
    },
  },
  {
    name: 'a change that needs a restart',
    produce: async (scene, undo) => {
      const file = join(scene.folder('node1'), 'fairlead.json');
      const text = await readFile(file, 'utf8');
      const changed = { ...(JSON.parse(text) as object), metricsBindAddress: '127.0.0.1:10449' };
      const { logFile } = scene.agent('node1');
      const isKnown = async (): Promise<boolean> =>
        (await readFile(logFile, 'utf8')).includes('in force after a restart');
      undo.defer(() => restartWith(scene, file, text));
      await writeFile(file, JSON.stringify(changed));
      const what = 'the agent to read its file again';
      await until(isKnown, { what, deadlineMs: RELOAD_DEADLINE_MS, signal: scene.signal });
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: { typed: TYPED, code: 'REACHES', exit: 0, says: /reaches/, cause: /REACHES/ },
    also: [{ typed: 'status', tells: /restart.*metricsBindAddress|metricsBindAddress.*restart/ }],
  },
  {
    name: 'cgroup of the hooks is missing',
    produce: async (scene, undo) => {
      const file = join(scene.folder('node1'), 'fairlead.json');
      const text = await readFile(file, 'utf8');
      const configuration = JSON.parse(text) as { readonly fairlead?: object };
      const cgroup = '/sys/fs/cgroup/not-there';
      const fairlead = { ...configuration.fairlead, cgroup };
      undo.defer(() => restartWith(scene, file, text));
      await restartWith(scene, file, JSON.stringify({ ...configuration, fairlead }));
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: { typed: TYPED, code: 'REACHES', exit: 0, says: /reaches/, cause: /cgroup/ },
    also: [
      { typed: 'status', tells: /not-there/, not: /repaired automatically within seconds/ },
      { typed: 'doctor', tells: /not-there/, not: /stop (that|the other) program/ },
    ],
    notIn: {
      nftables: NO_PROGRAMS,
      iptables: NO_PROGRAMS,
      ipvs: NO_PROGRAMS,
      userspace: NO_PROGRAMS,
    },
  },
  {
    name: 'API server is away',
    produce: async (scene, undo) => {
      const server = daemonNamed(scene, 'kube-apiserver');
      undo.defer(async () => {
        server.startAgain();
        await untilConnected(scene, true);
      });
      await server.kill();
      await untilConnected(scene, false);
    },
    client: TO_WEB,
    gets: ['answered'],
    explain: {
      // No pod can be looked up by its name meanwhile.
      typed: 'explain shop/web:http --from host',
      code: 'REACHES',
      exit: 0,
      says: /reaches/,
      cause: /API server/,
    },
    doctor: { code: 'API_STALE', tells: /API server|watch/ },
    also: [{ typed: 'status', tells: /API server/ }],
  },
];

/** A disk without room below the run folder of node1, from the start of the agent on. */
async function fillRunFolder(scene: IncidentScene, undo: AsyncDisposableStack): Promise<void> {
  const folder = scene.runFolder('node1');
  const agent = scene.agent('node1');
  await agent.stop();
  undo.defer(() => agent.startAgain());
  await run(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=755', 'tmpfs', folder]);
  undo.defer(async () => {
    await agent.stop();
    // A forwarder of the agent ends a little later, and has files there.
    await run(['umount', '--lazy', folder]);
  });
  // It ends with an error, when there is no room left.
  await run(['sh', '-c', `cat /dev/zero >${folder}/filled 2>/dev/null; test -s ${folder}/filled`]);
  agent.startAgain();
  await scene.untilSynced('node1');
  const spec = { clusterIP: '10.96.55.1', selector: { app: 'web' } };
  await addService(scene, undo, { name: 'after', spec, endpoints: 2 });
}

async function restartWith(scene: IncidentScene, file: string, text: string): Promise<void> {
  const agent = scene.agent('node1');
  await agent.stop();
  await writeFile(file, text);
  agent.startAgain();
  await scene.untilSynced('node1');
}

function daemonNamed(scene: IncidentScene, name: string): IncidentScene['lab']['daemons'][number] {
  const daemon = scene.lab.daemons.find((each) => each.name === name);
  if (daemon === undefined) throw new Error(`the lab runs no ${name}`);
  return daemon;
}

async function untilConnected(scene: IncidentScene, isConnected: boolean): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const all = await Promise.all(NODES.map((node) => scene.status(node)));
    return all.every(({ conditions }) => conditions.connected.service.isTrue === isConnected);
  };
  const what = `the agents to ${isConnected ? 'have' : 'have lost'} the API server`;
  await until(isSo, { what, deadlineMs: API_DEADLINE_MS, signal: scene.signal });
}
