import { networkInterfaces } from 'node:os';
import { canonicalIp } from '../../addresses/ip.ts';
import type { MachineAddresses } from '../../agent/machine-addresses.ts';
import { readNode, readRows } from '../../agent/servers/status-client.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { NodeView } from '../../forwarding/model.ts';
import { CommandError } from '../command-error.ts';
import { type ObservedMachine, type ObservedNode, observeNode } from '../desired.ts';
import { type Row, rowsOf, type Wish } from '../services/select-rows.ts';
import { printWarning } from '../terminal/print.ts';
import { agentError } from './ask-agent.ts';
import type { AgentBasis, Basis, SourceBasis } from './basis.ts';

/** The desired rows of a node, the same for every command. */
export interface Answer {
  readonly view: NodeView;
  readonly facts: NodeFacts;
  readonly rows: readonly Row[];
}

export interface Question {
  readonly wish?: Wish;
  /** Include candidate endpoints, with reasons. */
  readonly withCandidates?: boolean;
  /** Compare with the kernel of this machine, whatever the name of the node. */
  readonly isAboutThisMachine?: boolean;
  /** Repeated question: do not warn again. */
  readonly isRepeated?: boolean;
}

export async function answerOf(basis: Basis, question: Question = {}): Promise<Answer> {
  if (basis.by === 'agent') return await askForRows(basis, question);
  const observed = await observe(basis, question);
  await observed.stop();
  return answerOfObserved(observed, question);
}

/** The same, kept up to date until stopped. */
export async function observe(basis: SourceBasis, question: Question = {}): Promise<ObservedNode> {
  const { config, nodeName, from } = basis;
  const machine = await machineOf(basis, question);
  const observed = await observeNode({ settings: config.settings, nodeName, from, machine });
  const isNodeMissing =
    observed.intake.node.state === 'unknown' && config.settings.nodeObject === 'expected';
  if (isNodeMissing && question.isRepeated !== true) {
    printWarning(`Node ${nodeName} does not exist; its zone and addresses are unknown`);
  }
  return observed;
}

/** Loaded only for this machine: manifests are read without a connection to the kernel. */
async function machineOf(
  basis: SourceBasis,
  question: Question,
): Promise<ObservedMachine | undefined> {
  if (!question.isAboutThisMachine && !basis.isThisMachine) return undefined;
  const { socketsNow } = await import('../sockets-now.ts');
  const listSockets = () => socketsNow();
  if (!question.isAboutThisMachine) return { addresses: addressesNow(), listSockets };
  // Watching sockets needs privileges that only `diff` requires anyway.
  const { knownAddresses } = await import('../run/known-addresses.ts');
  return { addresses: knownAddresses(), listSockets };
}

function addressesNow(): MachineAddresses {
  return { run: async (onChange) => onChange(interfaceAddresses()) };
}

/** The addresses of this network namespace, canonical and sorted. */
export function interfaceAddresses(): readonly string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const addresses = interfaces.flatMap(({ address }) => canonicalIp(address) ?? []);
  return [...new Set(addresses)].sort();
}

export function answerOfObserved({ intake }: ObservedNode, { wish = {} }: Question): Answer {
  const { table, facts } = intake;
  return { view: table.view, facts, rows: rowsOf(table, wish) };
}

async function askForRows(basis: AgentBasis, question: Question): Promise<Answer> {
  const { socketPath } = basis;
  const { wish = {}, withCandidates = false } = question;
  try {
    // Read again: a second comparison must not use older facts than its rows.
    const { view, facts, missing } = await readNode({ socketPath });
    if (missing.length > 0) throw incomplete(missing);
    const named = wish.service === undefined ? {} : { service: wish.service };
    const rows = await readRows({ socketPath, withCandidates, ...named });
    const wanted = rows.filter(
      ({ forwarding: { id } }) => wish.port === undefined || wish.port === id.port,
    );
    const explained = wanted.map(({ candidates = [], ...row }) => ({ ...row, candidates }));
    return { view, facts, rows: explained };
  } catch (error) {
    throw agentError(error);
  }
}

function incomplete(missing: readonly string[]): CommandError {
  return new CommandError(
    `the agent has not received the initial lists yet; missing: ${missing.join(', ')}`,
    {
      code: 'AGENT_INCOMPLETE',
      next: 'retry in a few seconds; `fairlead status` shows what it waits for',
    },
  );
}
