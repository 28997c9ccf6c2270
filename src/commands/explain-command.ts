import { Command, InvalidArgumentError, Option } from 'commander';
import type { AgentNode } from '../agent/servers/agent-node.ts';
import { STANDARD_INPUT } from '../cluster/manifests/manifest-files.ts';
import { parseDurationMs } from '../config/duration.ts';
import { exitOf } from '../explain/codes.ts';
import type { Explanation } from '../explain/explanation.ts';
import { whatIf } from '../explain/what-if.ts';
import { aboutText } from './basis/about.ts';
import { type Basis, findBasis } from './basis/basis.ts';
import { observe } from './basis/basis-answer.ts';
import { addBasisOptions, type BasisOptions } from './basis/basis-options.ts';
import { CommandError, WRONG_USAGE_EXIT } from './command-error.ts';
import { answerLines } from './explain/answer-lines.ts';
import { reportOpen } from './explain/count-open-connections.ts';
import { explanationText } from './explain/explain-text.ts';
import { type Grounds, groundsOfObserved } from './explain/grounds.ts';
import {
  type AskOptions,
  explainAll,
  explainOnce,
  groundsFor,
  inquire,
  targetFrom,
} from './explain/inquire.ts';
import type { Inquiry } from './explain/inquiry.ts';
import type { WantedProbe } from './explain/proof/probe-kind.ts';
import { watchFor } from './explain/proof/watch-for.ts';
import { type WhatIf, whatIfText } from './explain/what-if-view.ts';
import { applyManifests } from './explain/with-change.ts';
import { namedCasesOf } from './explain/zero/named-case.ts';
import { givenFlags } from './kube-proxy-flags.ts';
import { colours } from './terminal/colour.ts';
import { printJson, printNote, printPage } from './terminal/print.ts';
import { visible } from './terminal/visible.ts';

interface ExplainOptions extends BasisOptions, AskOptions {
  readonly with?: readonly string[];
  readonly watch?: number;
  readonly output: 'text' | 'json';
}

const PROBES = ['dry', 'syn', 'connect', 'none'] as const;
const USUAL_WIDTH = 80;
const LEAST_WIDTH = 40;

/** `fairlead explain`: what happens to a new connection, and why. */
export function explainCommand(): Command {
  const command = new Command('explain')
    .description(
      'say what happens to a new connection, and why, and prove it by a packet; exit code 0 if it reaches an endpoint, 3 if not, 4 if a packet does something else than predicted, 1 if there is no such Service, port or address',
    )
    .argument(
      '<target>',
      'namespace/name[:port], or ADDRESS:PORT; with /udp or /sctp for these; - reads lines of TARGET [CLIENT [PROBE]] and answers each with a line of JSON',
    )
    .addOption(
      new Option(
        '--from <client>',
        'pod:NAMESPACE/NAME, pod:ADDRESS, netns:PATH, pid:NUMBER, host, or an IP address; ADDRESS@PATH names its network namespace; pod or outside for any such client',
      ).default('pod'),
    )
    .addOption(
      new Option(
        '--probe <kind>',
        'the packet that proves it: dry is dropped after all rules, syn is reset after its answer, connect is a whole connection; without one exit code 5; default: syn for TCP, dry for UDP, on a node and where the client is known',
      ).choices([...PROBES]),
    )
    .addOption(
      new Option(
        '--watch <time>',
        'wait so long for the next packet of a real client, such as 60s, and tell what happened to it; exit code 5 if none comes',
      )
        .argParser(watchMs)
        .conflicts(['probe', 'with', 'whyNot']),
    )
    .option(
      '--at <address>',
      'of the addresses of a Service, this one: an IP address, cluster-ip or node-port; default: all that the client could use, and the worst decides',
    )
    .option(
      '--each',
      'also send a packet straight to each endpoint, at most 20; default: where the first packet fails, and of up to four endpoints',
    )
    .addOption(
      new Option(
        '--size [bytes]',
        'also send so many bytes (empty lines) on the connection, and say whether packets of full size arrive',
      )
        .preset('16384')
        .argParser(sizeBytes),
    )
    .option('--why-not <pod>', 'why this pod or endpoint address gets no connection')
    .addOption(
      new Option(
        '--with <path>',
        'explain with these manifests applied, list the rows that would change, and count the open connections that would lose their endpoint; writes nothing; repeatable',
      ).argParser((path: string, earlier: readonly string[] | undefined) => [
        ...(earlier ?? []),
        path,
      ]),
    )
    .addOption(
      new Option('-o, --output <form>', 'text for people, json for programs')
        .choices(['text', 'json'])
        .default('text'),
    );
  return addBasisOptions(command).action(async (text: string, options: ExplainOptions) => {
    const flags = givenFlags(command);
    if (text === STANDARD_INPUT) {
      assertNoChange(options);
      return await explainLines({ flags, options });
    }
    const target = targetFrom(text);
    const found = await findBasis({ flags, options, outlivesAgent: true });
    // The agent has rows and no objects: a change is applied to those of its cluster.
    const basis = options.with && found.by === 'agent' ? found.apart : found;
    const { probe, watch } = options;
    // A packet meets the rules of now, and not those of a change.
    const asked = options.with
      ? { ...options, probe: 'none' as const, areRowsEnough: true }
      : options;
    const inquiry = await inquire(basis, { text, target, options: asked });
    const { explanation, change } = options.with
      ? await explainWith(inquiry, options.with, {
          agent: found.by === 'agent' ? found.agent : undefined,
          runFolder: options.runFolder,
        })
      : { explanation: await explainAlone(inquiry, watch), change: undefined };
    print(explanation, { change, basis, output: options.output });
    const isProofAsked = watch !== undefined || (probe !== undefined && probe !== 'none');
    process.exitCode = exitOf(explanation, isProofAsked);
  });
}

function watchMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError('use a time such as 60s or 5m');
}

const MOST_SIZE_BYTES = 1_000_000;

function sizeBytes(text: string): number {
  const bytes = Number(text);
  if (Number.isInteger(bytes) && bytes > 0 && bytes <= MOST_SIZE_BYTES) return bytes;
  throw new InvalidArgumentError(`use a number of bytes up to ${MOST_SIZE_BYTES}`);
}

async function explainAlone(inquiry: Inquiry, watch: number | undefined): Promise<Explanation> {
  const grounds = await groundsFor(inquiry);
  if (watch === undefined) {
    return await (inquiry.whyNot ? explainOnce : explainAll)(inquiry, grounds);
  }
  const [{ asked, prediction }] = await namedCasesOf(inquiry, grounds);
  const { basis } = inquiry;
  const of = { basis, prediction, rows: grounds.rows, timeoutMs: watch };
  const watched = await watchFor(asked, of);
  if (typeof watched === 'string') return await explainOnce(inquiry, grounds, watched);
  const client = { by: 'address', address: watched.client, isPodHere: false } as const;
  const from = asked.isNamed ? inquiry.from : client;
  return await explainOnce({ ...inquiry, from }, grounds, watched.packet);
}

function assertNoChange(options: ExplainOptions): void {
  if (options.with === undefined) return;
  throw new CommandError('--with changes one question, and - asks several', {
    code: 'USAGE',
    next: 'give one target with --with, or leave --with out',
    exitCode: WRONG_USAGE_EXIT,
  });
}

/** Each question is asked anew: the rows may have changed since the last one. */
async function explainLines(request: {
  readonly flags: ReturnType<typeof givenFlags>;
  readonly options: ExplainOptions;
}): Promise<void> {
  await answerLines(process.stdin, async ({ target: text, from = request.options.from, probe }) => {
    const target = targetFrom(text);
    const basis = await findBasis({ ...request, outlivesAgent: true });
    // Many questions are not to send many packets unless they are wanted.
    const given = { probe: 'none' as const, ...request.options, from, areRowsEnough: true };
    const options = probe === undefined ? given : { ...given, probe: lineProbe(probe) };
    const inquiry = await inquire(basis, { text, target, options });
    return await explainAll(inquiry, await groundsFor(inquiry));
  });
}

/** `usual`: as without `--probe`. */
function lineProbe(text: string): WantedProbe {
  if (text === 'usual') return undefined;
  const kind = PROBES.find((each) => each === text);
  if (kind !== undefined) return kind;
  throw new CommandError(`'${visible(text)}' is no probe`, {
    code: 'USAGE',
    next: `use usual, ${PROBES.join(', ')}`,
    exitCode: WRONG_USAGE_EXIT,
  });
}

/** The same question before and after a change that is made in memory only. */
async function explainWith(
  inquiry: Inquiry,
  files: readonly string[],
  by: { readonly agent: AgentNode | undefined; readonly runFolder: string },
): Promise<{ explanation: Explanation; change: WhatIf }> {
  const { basis } = inquiry;
  if (basis.by !== 'source') throw new TypeError('a change needs objects');
  const observed = await observe(basis);
  await observed.stop();
  const now = await nowOf(inquiry, await groundsOfObserved(observed, basis));
  const changes = await applyManifests(observed, { paths: files, nodeName: basis.nodeName });
  const explanation = await explainOnce(inquiry, await groundsOfObserved(observed, basis));
  const { table } = observed.intake;
  const open = await reportOpen(changes, { table, ...by });
  return { explanation, change: { files, now, rows: whatIf(changes), open } };
}

/** A change may add the Service that is asked for. */
async function nowOf(inquiry: Inquiry, grounds: Grounds): Promise<WhatIf['now']> {
  try {
    const { code, sentence } = await explainOnce(inquiry, grounds);
    return { code, sentence };
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'SERVICE_NOT_FOUND') throw error;
    return { code: 'NO_SUCH_ADDRESS', sentence: error.message };
  }
}

function print(
  explanation: Explanation,
  shown: {
    readonly change: WhatIf | undefined;
    readonly basis: Basis;
    readonly output: 'text' | 'json';
  },
): void {
  const { change, basis, output } = shown;
  printNote(aboutText(basis.about));
  if (output === 'json') {
    printJson({ ...explanation, ...(change ? { with: change } : {}), from: basis.about });
    return;
  }
  const form = {
    // Some terminals say that they have no columns.
    width: Math.max(LEAST_WIDTH, process.stdout.columns || USUAL_WIDTH),
    colours: colours(process.stdout, process.env),
  };
  printPage(explanationText(explanation, form));
  if (change) printPage(`\n${whatIfText(change, form)}`);
}
