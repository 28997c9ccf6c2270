import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiClient } from '../../../../lab/api/client.ts';
import { API_PORT } from '../../../../lab/control-plane/credentials.ts';
import { FABRIC } from '../../../../lab/network/plan.ts';
import type { Limits } from '../names.ts';
import type { Attack } from './attack.ts';
import { Attacker, type Tally } from './attacker.ts';
import { floodAttack } from './flood-attack.ts';
import { Random } from './random.ts';
import { SERVICE_ATTACKS } from './service-attacks.ts';
import { SLICE_ATTACKS } from './slice-attacks.ts';

/** The input file of the hostile user's process. */
export interface HostileOrder {
  readonly token: string;
  readonly authorityFile: string;
  /** Where it writes from: the network of the API server. */
  readonly fabricPath: string;
  readonly podPath: string;
  readonly tool: string;
  readonly seed: number;
  readonly seconds: number;
  readonly limits: Limits;
  readonly only?: string;
}

/** A line of its output: what it did, and until when on the monotonic clock. */
export interface AttackReport extends Tally {
  readonly attack: string;
  readonly beganMs: number;
  readonly endedMs: number;
}

/** Duration of one attack; less in a short run, so that all attacks run. */
const LONGEST_ATTACK_MS = 15_000;

function allAttacks(of: { tool: string; podPath: string }): Attack[] {
  return [...SERVICE_ATTACKS, ...SLICE_ATTACKS, floodAttack(of)];
}

/** In a separate process: the work of the hostile user must not delay the measurements. */
export async function beHostile(orderFile: string): Promise<void> {
  const order = JSON.parse(await readFile(orderFile, 'utf8')) as HostileOrder;
  const random = new Random(order.seed);
  using api = new ApiClient({
    namespacePath: order.fabricPath,
    address: FABRIC.ipv4,
    port: API_PORT,
    token: order.token,
    certificateAuthority: await readFile(order.authorityFile, 'utf8'),
  });
  const attacks = allAttacks(order).filter(({ name }) => order.only?.includes(name) ?? true);
  const attacker = new Attacker({ api, random, limits: order.limits });
  const endAtMs = monotonicMs() + order.seconds * 1_000;
  const eachMs = Math.min(LONGEST_ATTACK_MS, (order.seconds * 1_000) / attacks.length);
  // Every attack runs, even if the API server is so slow that some exceed their duration.
  for (let cycle = 0; cycle === 0 || monotonicMs() < endAtMs - eachMs / 2; cycle++) {
    for (const attack of random.shuffled(attacks)) {
      if (cycle > 0 && endAtMs - monotonicMs() < eachMs / 2) break;
      console.log(JSON.stringify(await carryOut(attack, attacker, eachMs)));
    }
  }
}

async function carryOut(attack: Attack, on: Attacker, forMs: number): Promise<AttackReport> {
  on.tally = { accepted: 0, rejected: 0, unanswered: 0 };
  const beganMs = monotonicMs();
  const signal = AbortSignal.timeout(Math.round(forMs));
  await attack.run(on, signal);
  // One that is over early has its effect meanwhile.
  const restMs = forMs - (monotonicMs() - beganMs);
  if (restMs > 0) await pause(restMs);
  return { attack: attack.name, beganMs, endedMs: monotonicMs(), ...on.tally };
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
