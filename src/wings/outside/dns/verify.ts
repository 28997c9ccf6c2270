import { lookup, Resolver } from 'node:dns/promises';
import { canonicalIp } from '../../../addresses/ip.ts';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { type DnsPlan, knownName } from './dns-plan.ts';

const ASK_TIMEOUT_MS = 1000;
const ASK_TRIES = 3;
const LOOKUP_DEADLINE_MS = 15_000;
/** The server answered, and the name has no address of that family, or does not exist. */
const EMPTY_ANSWERS = ['ENODATA', 'ENOTFOUND'];

/** What one server says of the name that every cluster has. */
export interface Answer {
  readonly server: string;
  /** Undefined: it does not answer. */
  readonly addresses: readonly string[] | undefined;
}

/** Asks each server itself, without the resolver of the machine. */
export async function askServers(plan: DnsPlan): Promise<readonly Answer[]> {
  return await Promise.all(
    plan.servers.map(async (server) => ({ server, addresses: await askServer(server, plan) })),
  );
}

async function askServer(server: string, plan: DnsPlan): Promise<readonly string[] | undefined> {
  const resolver = new Resolver({ timeout: ASK_TIMEOUT_MS, tries: ASK_TRIES });
  resolver.setServers([server.includes(':') ? `[${server}]` : server]);
  const name = knownName(plan);
  const found = await Promise.all([
    orEmpty(() => resolver.resolve4(name)),
    orEmpty(() => resolver.resolve6(name)),
  ]);
  const answered = found.filter((addresses) => addresses !== undefined);
  return answered.length === 0 ? undefined : answered.flat().map(canonical);
}

/** Undefined: no answer. */
async function orEmpty(ask: () => Promise<string[]>): Promise<string[] | undefined> {
  try {
    return await ask();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return EMPTY_ANSWERS.includes(code) ? [] : undefined;
  }
}

export type Verdict =
  | { readonly works: true; readonly name: string; readonly addresses: readonly string[] }
  | { readonly works: false; readonly problem: string; readonly next: string };

/** Whether the resolver of the machine says what the cluster's DNS says. */
export async function verify(plan: DnsPlan, answers: readonly Answer[]): Promise<Verdict> {
  const name = knownName(plan);
  const direct = answers.find(({ addresses }) => addresses !== undefined)?.addresses;
  if (direct === undefined) {
    return {
      works: false,
      problem: `the cluster's DNS does not answer at ${plan.servers.join(', ')}`,
      next: '`fairlead status` says whether Fairlead runs, `fairlead outside check` whether pods can be reached; nothing else is affected',
    };
  }
  const seen = await lookUp(name);
  if (seen.length > 0 && seen.every((address) => direct.includes(address))) {
    return { works: true, name, addresses: seen };
  }
  return {
    works: false,
    problem: `${name} is ${textOfAddresses(seen)} for this machine, and ${textOfAddresses(direct)} for the cluster's DNS`,
    next: `if it is not found at all, check the domain (--domain); else another setting answers for it: resolvectl query ${name}`,
  };
}

/** By the C library, as most programs do. */
async function lookUp(name: string): Promise<readonly string[]> {
  const late = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(() => late.resolve([]), LOOKUP_DEADLINE_MS);
  try {
    return await Promise.race([found(name), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function found(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => canonical(address));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

function canonical(address: string): string {
  return canonicalIp(address) ?? address;
}

function textOfAddresses(addresses: readonly string[]): string {
  return addresses.length === 0 ? 'not found' : addresses.join(', ');
}
