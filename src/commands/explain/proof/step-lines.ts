import type { Proof, ProofStep } from '../../../explain/proof/proof.ts';
import { answerText, dropText } from '../../../explain/proof/proof-words.ts';

/** A line of the way: its head, and what is said. */
export interface StepLine {
  readonly topic: string;
  readonly text: string;
}

/** Rules that are shown; JSON has all. */
const MOST_STEPS = 16;

/** The way of a packet, hook by hook, and what came back. `goal`: `address:port`. */
export function stepLines(proof: Proof, goal: string): readonly StepLine[] {
  const shown = proof.steps.filter(isTelling);
  if (proof.source === '') return [];
  const began = proof.kind === 'watched' ? 'came' : 'sent';
  const lines: StepLine[] = [{ topic: began, text: `${proof.source} > ${goal}` }];
  let [hook, packet] = ['', `${proof.source} > ${goal}`];
  for (const step of shown.slice(0, MOST_STEPS)) {
    const changed = packetText(step);
    const isChanged = changed !== '' && changed !== packet;
    if (isChanged) packet = changed;
    const now = isChanged ? ` (now ${changed})` : '';
    lines.push({ topic: step.hook === hook ? '' : step.hook, text: `${stepText(step)}${now}` });
    hook = step.hook;
  }
  const left = shown.length - MOST_STEPS;
  if (left > 0) lines.push({ topic: '', text: `and ${left} more: -o json lists all` });
  const { outcome } = proof;
  if (outcome.is === 'forwarded') {
    lines.push({ topic: 'leaves as', text: `${outcome.seenAs} > ${outcome.endpoint}` });
  }
  lines.push(...dropLines(proof));
  const answer = answerText(proof);
  const { large } = proof;
  const size = large && `${large.acknowledged} of ${large.bytes} bytes arrived`;
  return [
    ...lines,
    ...(answer === undefined ? [] : [{ topic: 'answer', text: answer }]),
    ...(size === undefined ? [] : [{ topic: 'data', text: size }]),
  ];
}

/** Where all is as predicted, or a rule dropped it, the lines above tell why. */
function dropLines({ drop, dropsUnread, agrees, outcome }: Proof): StepLine[] {
  if (agrees || 'by' in outcome) return [];
  if (drop !== null) return [{ topic: 'dropped', text: dropText(drop) }];
  if (dropsUnread === undefined) return [];
  return [{ topic: 'drops', text: `not read: ${dropsUnread}` }];
}

/** A jump only leads on to rules that are shown themselves. */
function isTelling({ verdict }: ProofStep): boolean {
  return verdict !== 'jump';
}

function stepText(step: ProofStep): string {
  const { table, chain, handle, entry, does, verdict, target, ours } = step;
  if (entry !== undefined) return `${table} ${chain} { ${entry} }${does ? `: ${does}` : ''}`;
  const where = `${table} ${chain}${handle === undefined ? ', its policy' : ` #${handle}`}`;
  const goal = target === undefined ? '' : ` ${target}`;
  const whose = ours ? '' : ", not Fairlead's";
  return `${where}${whose}: ${does ?? `${verdict}${goal}`}`;
}

function packetText(step: ProofStep | undefined): string {
  const packet = step?.packet;
  return packet === undefined ? '' : `${packet.source} > ${packet.destination}`;
}
