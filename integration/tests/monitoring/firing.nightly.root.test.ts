import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Service } from '../../../lab/api/objects.ts';
import { deployDemo, untilReachable } from '../../../lab/commands/demo.ts';
import { enterNamespace } from '../../../lab/host/namespaces.ts';
import type { Daemon } from '../../../lab/host/processes.ts';
import { run, tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { type Lab, startLab } from '../../../lab/lab.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { METRICS_PORT } from '../../../lab/proxies/kube-proxy-configuration.ts';
import { findProxy } from '../../../lab/proxies/registry.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';
import { readFamilies } from '../../compare/metrics/families.ts';
import { type Prometheus, startPrometheus } from '../../prometheus.ts';
import { dashboardQueries, deployedRules, RULES } from './deployed.ts';
import { nameFaults } from './faults.ts';
import { scrapeConfiguration } from './scrape-configuration.ts';

const NODE = 'node1';
const HEALTH_PORT = 10_256;
const DEADLINE_MS = 120_000;
/** The rules as deployed, but for how long a fault must last: `promtool test rules` checks that. */
const SHORTENED_FOR = 'for: "5s"';
/** Show something only while something is wrong, or in another mode. */
const EMPTY_WHEN_HEALTHY = /^Age of the oldest|^External changes|^Repaired objects/;
const OF_USERSPACE = /^no metric fairlead_forwarder_/;
const HAS_PROMETHEUS = (await tryRun(['sh', '-c', 'command -v prometheus'])).exitCode === 0;

describe('a real Prometheus beside a real agent', { skip: !HAS_PROMETHEUS }, () => {
  let lab: Lab;
  let agent: Daemon;
  let prometheus: Prometheus;
  let service: Service;

  before(async () => {
    lab = await startLab({ nodeCount: 1 });
    const daemons = await lab.startProxies(withServiceMetrics(findProxy('fairlead-nftables')));
    agent = daemons.get(NODE) as Daemon;
    service = await deployDemo(lab);
    const folder = join(lab.folder, 'prometheus');
    prometheus = await startPrometheus({
      namespacePath: lab.namespacePath(NODE),
      folder,
      configuration: scrapeConfiguration({ rules: join(lab.folder, 'rules.yaml'), node: NODE }),
    });
    await until(async () => (await get(METRICS_PORT, '/metrics')).includes('fairlead_build_info'), {
      what: 'metrics',
      deadlineMs: DEADLINE_MS,
    });
    await makeTraffic();
  });

  after(async () => {
    await prometheus?.[Symbol.asyncDispose]();
    await agent?.stop();
    await lab?.[Symbol.asyncDispose]();
  });

  async function get(port: number, path: string): Promise<string> {
    const to = { address: '127.0.0.1', port, path };
    return (await httpGet({ namespace: lab.namespacePath(NODE) }, to)).body;
  }

  /** Probes, and connections to a Service: both are counted from the first on. */
  async function makeTraffic(): Promise<void> {
    await get(HEALTH_PORT, '/healthz');
    await untilReachable({ lab, service, hosts: [NODE] });
  }

  async function firing(): Promise<string[]> {
    const samples = await prometheus.ask('ALERTS{alertstate="firing"}');
    return samples.map(({ metric }) => metric['alertname'] ?? '').sort();
  }

  async function untilFires(alert: string): Promise<void> {
    let last: string[] = [];
    const isFiring = async (): Promise<boolean> => {
      last = await firing();
      return last.includes(alert);
    };
    await until(isFiring, { what: () => `${alert}; fire: ${last}`, deadlineMs: DEADLINE_MS });
  }

  it('finds the node by the relabelings of the PodMonitor', async () => {
    const [first, ...others] = await prometheus.ask('up{job="kube-proxy"}');
    assert.deepEqual(others, []);
    assert.equal(first?.metric['instance'], NODE);
    assert.equal(first?.value[1], '1');
  });

  it('has every metric and label of alerts and dashboard, and no empty panel', async () => {
    const expressions = [
      ...deployedRules().map(({ expr }) => expr),
      ...dashboardQueries().map(({ expression }) => expression),
    ];
    let faults: string[] = [];
    const isNamed = async (): Promise<boolean> => {
      await makeTraffic();
      const families = readFamilies(await get(METRICS_PORT, '/metrics'));
      faults = expressions.flatMap((each) => nameFaults(each, families));
      return faults.every((fault) => OF_USERSPACE.test(fault));
    };
    await until(isNamed, { what: () => `metrics: ${faults}`, deadlineMs: DEADLINE_MS });
    const empty = async (): Promise<string[]> => {
      const titles: string[] = [];
      for (const { title, expression } of dashboardQueries()) {
        if (EMPTY_WHEN_HEALTHY.test(title) || expression.includes('forwarder')) continue;
        if ((await prometheus.ask(expression)).length === 0) titles.push(title);
      }
      return titles;
    };
    let last: string[] = [];
    const isFull = async (): Promise<boolean> => {
      last = await empty();
      return last.length === 0;
    };
    await until(isFull, { what: () => `panels: ${last}`, deadlineMs: DEADLINE_MS });
  });

  it('is silent while nothing is wrong', async () => {
    assert.deepEqual(await firing(), []);
  });

  it('fires FairleadDriftOften while the table is deleted again and again', async () => {
    const drifts = async (): Promise<number> => {
      return Number(
        /^fairlead_drifts_total (\d+)$/m.exec(await get(METRICS_PORT, '/metrics'))?.[1] ?? 0,
      );
    };
    for (let times = 0; times < 8; times++) {
      const before = await drifts();
      const table = enterNamespace(lab.namespacePath(NODE), [
        'nft',
        'delete',
        'table',
        'ip',
        'fairlead',
      ]);
      await run(table);
      const isSeen = async (): Promise<boolean> => (await drifts()) > before;
      await until(isSeen, { what: 'the deletion to be seen', deadlineMs: DEADLINE_MS });
      await until(hasTable, { what: 'the table to be restored', deadlineMs: DEADLINE_MS });
    }
    await untilFires('FairleadDriftOften');
    assert.deepEqual(await firing(), ['FairleadDriftOften']);
  });

  async function hasTable(): Promise<boolean> {
    const list = ['nft', 'list', 'chain', 'ip', 'fairlead', 'dispatch'] as [string, ...string[]];
    return (await tryRun(enterNamespace(lab.namespacePath(NODE), list))).exitCode === 0;
  }

  it('fires FairleadApiNotFresh while the API server is stopped, and no longer than that', async () => {
    const server = lab.daemons.find(({ name }) => name === 'kube-apiserver') as Daemon;
    await server.stop();
    await untilFires('FairleadApiNotFresh');
    assert.deepEqual(await firing(), ['FairleadApiNotFresh', 'FairleadDriftOften']);
    server.startAgain();
    const isOver = async (): Promise<boolean> => !(await firing()).includes('FairleadApiNotFresh');
    await until(isOver, { what: 'the alert to end', deadlineMs: DEADLINE_MS });
  });

  it('fires FairleadDown when the agent is gone', async () => {
    await agent.stop();
    await untilFires('FairleadDown');
  });

  /** With the rules of the folder, and with series of the busiest Services. */
  function withServiceMetrics(usual: ProxyVariant): ProxyVariant {
    return {
      ...usual,
      async prepare(place) {
        const command = await usual.prepare(place);
        const file = join(place.folder, 'fairlead.json');
        const config = JSON.parse(readFileSync(file, 'utf8'));
        const own = { ...config.fairlead, serviceMetrics: 5 };
        await writeFile(file, JSON.stringify({ ...config, fairlead: own }));
        const rules = readFileSync(RULES, 'utf8').replaceAll(/for: "\d+m"/g, SHORTENED_FOR);
        await writeFile(join(lab.folder, 'rules.yaml'), rules);
        return command;
      },
    };
  }
});
