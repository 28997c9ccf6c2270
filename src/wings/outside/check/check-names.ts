import { randomInt } from 'node:crypto';
import dgram from 'node:dgram';
import net from 'node:net';
import { canonicalIp } from '../../../addresses/ip.ts';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { type BasicFinding, good, problem } from '../../../doctor/basic-finding.ts';
import { runProgramToEnd } from '../../../linux/run-program.ts';
import { knownName } from '../dns/dns-plan.ts';
import { resolvedLeaks } from '../dns/leaks.ts';
import { THIS_MACHINE } from '../paths.ts';
import { readAgent, whyNotServing } from './agent-ready.ts';
import { clusterIpOf } from './cluster-view.ts';
import {
  type AddressType,
  type DnsAnswer,
  type DnsQuestion,
  decodeAnswer,
  encodeQuestion,
  TYPE_A,
  TYPE_AAAA,
} from './dns-message.ts';
import { check, skipped, warning } from './outside-check.ts';

const PROBE_SERVICE = 'default/kubernetes';
const LOOKUP_DEADLINE_MS = 3_000;

/** An answer of the cluster's DNS by one transport. */
export interface DnsTry {
  readonly server: string;
  readonly transport: 'UDP' | 'TCP';
  /** Undefined: none came. */
  readonly answer: DnsAnswer | undefined;
}

/** Whether the DNS Service answers with the address that the API server has. */
export const clusterDns = check('cluster DNS', async (context) => {
  const { dnsAddresses, services } = await context.cluster();
  if (dnsAddresses.length === 0) return skipped(NO_DNS);
  const absent = whyNotServing(await readAgent(context));
  if (absent !== undefined) return skipped(absent);
  const name = knownName({ domain: context.settings.clusterDomain });
  const expected = clusterIpOf(services, PROBE_SERVICE);
  const type = expected?.[0]?.includes(':') ? TYPE_AAAA : TYPE_A;
  const tries = await Promise.all(
    dnsAddresses.flatMap((server) =>
      (['UDP', 'TCP'] as const).map(async (transport): Promise<DnsTry> => {
        const answer = await askDns({ server, name, type, transport }, context.signal);
        return { server, transport, answer };
      }),
    ),
  );
  return judgeDns({ name, tries, expected });
});

const NO_DNS =
  'not known: set fairlead.clusterDNS, or let the account read Service kube-system/kube-dns';

export function judgeDns(question: {
  readonly name: string;
  readonly tries: readonly DnsTry[];
  /** Undefined: not known. */
  readonly expected: readonly string[] | undefined;
}): BasicFinding {
  const silent = question.tries.filter(({ answer }) => answer === undefined);
  if (silent.length > 0) {
    const texts = silent.map(({ server, transport }) => `${server} by ${transport}`);
    const next =
      'repair "routes to pods" first, if it is a problem; else see whether the pods of the DNS Service are ready, and port 53 is open for UDP and TCP';
    return problem(`no answer of ${texts.join(', ')}`, next);
  }
  const wrong = question.tries.find(({ answer }) => answer?.error !== undefined);
  if (wrong?.answer?.error !== undefined) {
    const next = 'set fairlead.clusterDomain to the domain of the cluster';
    return problem(`${wrong.server} answers ${wrong.answer.error} for ${question.name}`, next);
  }
  const [first] = question.tries;
  const got = first?.answer?.addresses ?? [];
  if (
    question.expected !== undefined &&
    !got.some((address) => question.expected?.includes(address))
  ) {
    const next = 'these are the addresses of another cluster? correct fairlead.clusterDNS';
    return problem(
      `${question.name} is ${got.join(', ') || 'nothing'}, not ${question.expected.join(', ')}`,
      next,
    );
  }
  return good(`${first?.server} answers by UDP and TCP: ${got.join(', ')}`);
}

/** Whether programs of this machine find Services by name. */
export const names = check('names', async (context) => {
  const { dnsAddresses, services } = await context.cluster();
  const [leak] = await resolvedLeaks(THIS_MACHINE, dnsAddresses);
  if (leak !== undefined) return everyName(leak.file);
  const name = knownName({ domain: context.settings.clusterDomain });
  const expected = clusterIpOf(services, PROBE_SERVICE);
  try {
    return judgeNames({ name, addresses: await addressesOf(name), expected });
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return skipped('getent, which asks the resolver of this machine, is not installed');
  }
});

/**
 * By getent, as programs of this machine do it: a lookup of this process could not be ended, and
 * would keep it alive after the deadline. Empty: the name does not resolve.
 */
async function addressesOf(name: string): Promise<readonly string[]> {
  const { stdout } = await runProgramToEnd({
    command: 'getent',
    args: ['ahosts', name],
    env: {},
    timeoutMs: LOOKUP_DEADLINE_MS,
  });
  const addresses = stdout.split('\n').map((line) => canonicalIp(line.split(/\s/, 1)[0] ?? ''));
  return [...new Set(addresses.filter((address) => address !== undefined))];
}

export function judgeNames(question: {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly expected: readonly string[] | undefined;
}): BasicFinding {
  const { name, addresses, expected } = question;
  if (addresses.length === 0) {
    return warning(`${name} does not resolve`, NO_NAMES);
  }
  if (expected === undefined || addresses.some((address) => expected.includes(address))) {
    return good(`${name} is ${addresses.join(', ')}`);
  }
  const next =
    'the resolver asks another DNS: fairlead outside dns apply sends this domain to the cluster';
  return problem(`${name} is ${addresses.join(', ')}, not ${expected.join(', ')}`, next);
}

const NO_NAMES =
  'fairlead outside dns apply sets it up with systemd-resolved; fairlead outside dns says how this machine resolves names';

function everyName(file: string): BasicFinding {
  return warning(
    `${file} sends every name that this machine looks up to the DNS of the cluster`,
    'remove DNS= and Domains= from it, and use fairlead outside dns apply, which sends the cluster domain alone',
  );
}

const DEADLINE_MS = 2_000;
const DNS_PORT = 53;

interface DnsRequest {
  readonly server: string;
  readonly port?: number;
  readonly name: string;
  readonly type: AddressType;
  readonly transport: 'UDP' | 'TCP';
}

/** Asks one server, not the resolver of this machine. Undefined: no answer within the deadline. */
export async function askDns(
  request: DnsRequest,
  signal: AbortSignal,
): Promise<DnsAnswer | undefined> {
  const { name, type } = request;
  const question = { id: randomInt(65_536), name, type };
  const late = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
  const { promise, resolve } = Promise.withResolvers<DnsAnswer | undefined>();
  const giveUp = (): void => resolve(undefined);
  late.addEventListener('abort', giveUp, { once: true });
  const send = request.transport === 'UDP' ? sendUdp : sendTcp;
  const close = send(request, question, resolve);
  try {
    return await promise;
  } finally {
    late.removeEventListener('abort', giveUp);
    close();
  }
}

type Tell = (answer: DnsAnswer | undefined) => void;

function sendUdp(request: DnsRequest, question: DnsQuestion, tell: Tell): () => void {
  const socket = dgram.createSocket(request.server.includes(':') ? 'udp6' : 'udp4');
  socket.on('error', () => tell(undefined));
  socket.on('message', (bytes) => {
    const answer = decodeAnswer(bytes, question);
    if (answer !== undefined) tell(answer);
  });
  // Connected: only the server can answer, and its ICMP errors arrive.
  socket.connect(request.port ?? DNS_PORT, request.server, () => {
    socket.send(encodeQuestion(question));
  });
  return () => socket.close();
}

/** Over TCP each message has its length before it. */
function sendTcp(request: DnsRequest, question: DnsQuestion, tell: Tell): () => void {
  const socket = net.connect({ host: request.server, port: request.port ?? DNS_PORT });
  let received = Buffer.alloc(0);
  socket.on('error', () => tell(undefined));
  socket.on('end', () => tell(undefined));
  socket.on('connect', () => {
    const bytes = encodeQuestion(question);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  });
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
    tell(decodeAnswer(received.subarray(2), question));
  });
  return () => socket.destroy();
}
