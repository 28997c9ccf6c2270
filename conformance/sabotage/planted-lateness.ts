import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LabError } from '../../lab/host/errors.ts';
import { plantText } from '../../lab/host/plant.ts';
import type { ProxyVariant } from '../../lab/proxies/contract.ts';
import { fairleadWith } from '../../lab/proxies/fairlead.ts';
import { bundleFairlead } from '../../lab/real/proxies/fairlead.ts';
import { BARRIER_NAME } from '../runner/gate.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Inside the project, where the one package that is not in the bundle is found. */
const FOLDER = join(ROOT, 'dist/planted');
const RULE_VARIABLE = 'FAIRLEAD_PLANTED_LATENESS';

/** Which Services are late, and by how much. */
export interface LateRule {
  readonly delayMs: number;
  /** `namespace/name`, `namespace/*` for all of a namespace but the barrier's, or `*` for all. */
  readonly services: readonly string[];
}

/** Where the agent hears of the cluster, whichever mode it is in; a bundle may rename variables. */
const TAKES_EVENTS = '.run((event) => this.#takeEvent(event), ';
const TAKES_THEM_LATE = '.run(plantedLateness((event) => this.#takeEvent(event)), ';

/** Events of a late Service, and of its slices, are passed on after the delay, in their order. */
const PLANTED = `
function plantedLateness(take) {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const serviceOf = new Map();
  const rule = () => {
    try {
      return JSON.parse(readFileSync(process.env.${RULE_VARIABLE}, 'utf8'));
    } catch (error) {
      if (error.code === 'ENOENT') return { delayMs: 0, services: [] };
      throw error;
    }
  };
  const delayMs = (event) => {
    if (event.type === 'synced') return 0;
    if (event.kind !== 'service' && event.kind !== 'slice') return 0;
    if (event.kind === 'slice' && event.type === 'put') {
      serviceOf.set(event.key, event.object.namespace + '/' + event.object.service);
    }
    const service = event.kind === 'service' ? event.key : serviceOf.get(event.key);
    const [namespace, name] = (service ?? '').split('/');
    const { delayMs, services } = rule();
    const isLate =
      services.includes('*') ||
      services.includes(service) ||
      (services.includes(namespace + '/*') && name !== '${BARRIER_NAME}');
    return isLate ? delayMs : 0;
  };
  return (event) => {
    const ms = delayMs(event);
    if (ms === 0) take(event);
    else setTimeout(take, ms, event);
  };
}
`;

/** The program with a place in it where lateness can be switched on. */
export function plantLateness(program: string): string {
  const place = { name: 'lateness', replace: TAKES_EVENTS, by: TAKES_THEM_LATE };
  const writtenIn = 'conformance/sabotage/planted-lateness.ts';
  return plantText(program, { ...place, writtenIn }) + PLANTED;
}

/** A build of Fairlead that is late on demand, and is as always until then. */
export class LateFairlead {
  readonly variant: ProxyVariant;
  readonly #ruleFile: string;

  private constructor(variant: ProxyVariant, ruleFile: string) {
    this.variant = variant;
    this.#ruleFile = ruleFile;
  }

  static async build(of: {
    readonly variant: ProxyVariant;
    /** One per lab, so that two concurrent labs do not share it. */
    readonly labFolder: string;
    readonly signal: AbortSignal;
  }): Promise<LateFairlead> {
    const bundle = join(FOLDER, 'fairlead-late.mjs');
    const ruleFile = join(of.labFolder, 'lateness.json');
    await mkdir(dirname(bundle), { recursive: true });
    await bundleFairlead(bundle, of.signal);
    await writeFile(bundle, plantLateness(await readFile(bundle, 'utf8')));
    // It looks for the programs of the eBPF modes beside itself.
    if (of.variant.servesSockets) {
      await cp(join(ROOT, 'dist/bpf'), join(FOLDER, 'bpf'), { recursive: true });
    }
    const env = { [RULE_VARIABLE]: ruleFile };
    const variant = fairleadWith(of.variant.name, { program: [bundle], env });
    if (variant !== undefined) return new LateFairlead(variant, ruleFile);
    throw new LabError('LAB_USAGE', `cannot plant lateness in ${of.variant.name}`, {
      next: 'choose a variant of Fairlead',
    });
  }

  /** Holds for all events from now on. */
  async be(rule: LateRule): Promise<void> {
    const draft = `${this.#ruleFile}.new`;
    await writeFile(draft, JSON.stringify(rule));
    await rename(draft, this.#ruleFile);
  }

  async beInTime(): Promise<void> {
    await rm(this.#ruleFile, { force: true });
  }
}
