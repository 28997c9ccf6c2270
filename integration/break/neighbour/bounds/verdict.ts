import type { BoundResult, VictimAnswer } from './answer.ts';

/** Beyond what a connection past the proxy takes meanwhile. */
const LONGEST_HEALTH_MS = 1_000;
/** 3: not ready, or different. `diff` compares while changes are on their way, so that is no harm. */
const ANSWERED: readonly (number | undefined)[] = [0, 3];

/** What is wrong at a bound; empty: nobody but the tenant noticed. */
export function faultsOf(result: BoundResult): string[] {
  const { error, notFull, isTold, emptiedSeconds } = result;
  const victim = result.victim && {
    ...result.victim,
    ...(result.movesAffinity ? { strayed: 0 } : {}),
  };
  return [
    ...(error === undefined ? [] : [error]),
    ...(notFull === undefined ? [] : [`not full: ${notFull}`]),
    ...(victim === undefined ? [] : harmTo(victim)),
    ...(isTold === false ? ['`fairlead status` does not name it'] : []),
    ...(Number.isFinite(emptiedSeconds) || error !== undefined ? [] : ['its rows never left']),
  ];
}

function harmTo(victim: VictimAnswer): string[] {
  const {
    made,
    failed,
    example,
    open,
    lost,
    lostBy,
    sticky,
    strayed,
    strayedExample,
    slowestDirectMs,
  } = victim;
  const { healthAsked, healthBad, healthExample, slowestHealthMs } = victim;
  const faults: string[] = [];
  const say = (isWrong: boolean, what: string): void => void (isWrong && faults.push(what));
  say(made === 0, 'no connection was made');
  say(failed > 0, `${failed} of ${made} new connections failed${example ? ` (${example})` : ''}`);
  say(lost > 0, `${lost} of ${open} open connections were lost (${lostBy})`);
  say(strayed > 0, `${strayed} of ${sticky} clients changed endpoint (${strayedExample})`);
  say(
    healthBad > 0,
    `${healthBad} of ${healthAsked} health answers were not 200 (${healthExample})`,
  );
  say(
    slowestHealthMs > LONGEST_HEALTH_MS + slowestDirectMs,
    `a health answer took ${slowestHealthMs.toFixed(0)} ms`,
  );
  for (const verb of ['status', 'diff'] as const) {
    const { exitCode, text } = victim[verb];
    say(!ANSWERED.includes(exitCode), `\`fairlead ${verb}\`: ${firstLine(text)}`);
  }
  return faults;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? 'no answer';
}
