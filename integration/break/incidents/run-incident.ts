import { LabError } from '../../../lab/host/errors.ts';
import { until } from '../../../lab/host/until.ts';
import type { Incident, NextExpectation } from './incident.ts';
import type { Got, NodeName, Question } from './question.ts';
import type { DoctorFinding, IncidentResult, Observed } from './result.ts';
import type { IncidentScene } from './scene.ts';
import { typeCommand } from './type-command.ts';
import { commandIn, readAnswer, type Typed } from './typed.ts';
import { commandsToCause, faultsIn, gotText } from './verdict.ts';

const PRODUCED_DEADLINE_MS = 20_000;
const REPAIRED_DEADLINE_MS = 10_000;
const DOCTOR = 'doctor -o json';

/** Produces it, asks the client and the tools, and undoes it, until the lab is healthy again. */
export async function runIncident(
  scene: IncidentScene,
  incident: Incident,
): Promise<IncidentResult> {
  const startedAtMs = performance.now();
  const undo = new AsyncDisposableStack();
  const { observed, failure } = await observedIn(scene, incident, undo);
  try {
    await undo.disposeAsync();
  } catch (cause) {
    scene.signal.throwIfAborted();
    const next = 'undo it by hand, or run it alone: --only';
    throw new LabError('LAB_COMMAND_FAILED', `${incident.name} is not undone`, { next, cause });
  }
  await scene.untilHealthy();
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { name, gets, explain, doctor } = incident;
  const shown = { name, gets, explain, ...(doctor === undefined ? {} : { doctor }) };
  return {
    incident: shown,
    observed,
    faults: observed === undefined ? [failure] : faultsIn(incident, observed),
    commandsToCause: observed === undefined ? undefined : commandsToCause(incident, observed),
    seconds,
  };
}

/** `failure`: why there is nothing to observe. */
async function observedIn(
  scene: IncidentScene,
  incident: Incident,
  undo: AsyncDisposableStack,
): Promise<{ readonly observed: Observed | undefined; readonly failure: string }> {
  try {
    await incident.produce(scene, undo);
    const got = await gotAsProduced(scene, incident);
    return { observed: await observe(scene, incident, got), failure: '' };
  } catch (error) {
    if (!(error instanceof LabError)) {
      await undo.disposeAsync();
      throw error;
    }
    return { observed: undefined, failure: `not produced: ${error.message}` };
  }
}

/** The client's connections show that the incident is there, and that rows have been written. */
async function gotAsProduced(
  scene: IncidentScene,
  { client, gets }: Incident,
): Promise<readonly Got[]> {
  if (client === undefined) return [];
  let got: readonly Got[] = [];
  const wanted = gotText(gets);
  const isProduced = async (): Promise<boolean> => {
    got = await scene.ask(client);
    return gotText(got) === wanted;
  };
  await until(isProduced, {
    what: () => `its client to get: ${wanted}; it got: ${gotText(got)}`,
    deadlineMs: PRODUCED_DEADLINE_MS,
    signal: scene.signal,
  });
  return got;
}

async function observe(
  scene: IncidentScene,
  incident: Incident,
  got: readonly Got[],
): Promise<Observed> {
  const { explain: wanted, client } = incident;
  const command = `fairlead ${wanted.typed}`;
  const typed = await typeWhileAsking(scene, {
    command,
    asking: wanted.whileAsking ? client : undefined,
  });
  const explain = { ...typed, ...readAnswer(typed.text) };
  // Before `next` is typed, which may repair it.
  const doctor = incident.doctor === undefined ? undefined : await askDoctor(scene);
  const also: Typed[] = [];
  for (const { typed } of incident.also ?? [])
    also.push(await typeCommand(scene, `fairlead ${typed}`));
  const next = await typeNext(scene, incident, explain.next);
  return {
    got,
    explain,
    also,
    ...(doctor === undefined ? {} : { doctor }),
    ...(next === undefined ? {} : next),
  };
}

async function askDoctor(scene: IncidentScene): Promise<NonNullable<Observed['doctor']>> {
  const { exit, text } = await typeCommand(scene, `fairlead ${DOCTOR}`);
  const start = text.indexOf('{');
  const { results } = JSON.parse(text.slice(start)) as { readonly results: DoctorFinding[] };
  return { exit, findings: results.filter(({ level }) => level !== 'ok') };
}

/** Types the line that was to be there, and asks the client again where it repairs. */
async function typeNext(
  scene: IncidentScene,
  { explain: { next: wanted }, client }: Incident,
  lines: readonly string[],
): Promise<Pick<Observed, 'next' | 'gotAfter'> | undefined> {
  const command = wanted === undefined ? undefined : wantedCommand(wanted, lines);
  if (wanted?.typed === undefined || command === undefined) return undefined;
  const node = nodeOf(wanted, command);
  // A command that watches sees only a client that goes on.
  const asking = command.includes('--watch') ? client : undefined;
  const next = await typeWhileAsking(scene, { command, node, asking });
  if (wanted.typed === 'shows' || client === undefined) return { next };
  return { next, gotAfter: await gotAfterRepair(scene, client) };
}

function wantedCommand({ names }: NextExpectation, lines: readonly string[]): string | undefined {
  const commands = lines.filter((line) => names.test(line)).map(commandIn);
  return commands.find((command) => command !== undefined);
}

function nodeOf({ on }: NextExpectation, command: string): NodeName {
  return on ?? (command.includes('--node node2') ? 'node2' : 'node1');
}

async function gotAfterRepair(scene: IncidentScene, client: Question): Promise<readonly Got[]> {
  let got: readonly Got[] = [];
  const isRepaired = async (): Promise<boolean> => {
    got = await scene.ask(client);
    return got.every((each) => each === 'answered');
  };
  const options = { deadlineMs: REPAIRED_DEADLINE_MS, signal: scene.signal };
  try {
    await until(isRepaired, { what: 'a repair', ...options });
  } catch (error) {
    // Whether it repairs is the verdict's to say.
    if (!(error instanceof LabError) || error.code !== 'LAB_DEADLINE') throw error;
  }
  return got;
}

interface Typing {
  readonly command: string;
  readonly node?: NodeName;
  /** A client that connects again and again until the command has ended. */
  readonly asking: Question | undefined;
}

async function typeWhileAsking(
  scene: IncidentScene,
  { command, node, asking }: Typing,
): Promise<Typed> {
  const told = typeCommand(scene, command, node);
  if (asking === undefined) return await told;
  let isOver = false;
  const over = told.finally(() => {
    isOver = true;
  });
  while (!isOver) await scene.ask(asking);
  return await over;
}
