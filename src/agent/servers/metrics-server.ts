import type { Clock } from '../../time/clock.ts';
import { datesBy } from '../dates.ts';
import type { ConnectionBudget } from './connection-budget.ts';
import { openHttpServer } from './http.ts';
import { keepServing, retryLikeKubeProxy } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { type Handler, jsonReply, type Reply, routes, textReply } from './reply.ts';
import type { ServerProblemListener } from './server-error.ts';

export interface MetricsServerOptions {
  readonly listen: { readonly ip: string; readonly port: number };
  readonly endsWhenServerFails: boolean;
  readonly budget: ConnectionBudget;
  readonly mode: string;
  readonly metrics: MetricsText;
  /** The configuration in the format of kube-proxy. */
  readonly configuration: () => unknown;
  /** Present when the feature is enabled. */
  readonly flagz?: { readonly flags: () => Readonly<Record<string, string>> };
  readonly statusz?: ComponentPage;
  readonly onProblem: ServerProblemListener;
  readonly onOpen?: (server: OpenServer) => void;
}

/** Rendered on request. */
export interface MetricsText {
  readonly contentType: string;
  render(): Promise<string>;
  renderSlis(): Promise<string>;
}

const OK = 200;
const CONFIG_GROUP = 'kubeproxy.config.k8s.io';

/** The metrics server, on port 10249. Ends as the health server does. */
export async function runMetricsServer(
  options: MetricsServerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { listen, budget, onProblem, onOpen } = options;
  const handler = routes(tableOf(options));
  await keepServing(
    {
      where: `${listen.ip}:${listen.port} (metrics)`,
      open: () => openHttpServer(listen, { handler, budget, onProblem }),
      onProblem,
      ...(onOpen === undefined ? {} : { onOpen }),
      retryAfterMs: retryLikeKubeProxy(options.endsWhenServerFails),
    },
    signal,
  );
}

function tableOf(options: MetricsServerOptions): Map<string, Handler> {
  const { metrics, flagz, statusz, mode } = options;
  const prometheus = (body: Buffer): Reply => {
    return { status: OK, headers: { 'Content-Type': metrics.contentType }, body };
  };
  const render = sharedRender(() => metrics.render());
  const renderSlis = sharedRender(() => metrics.renderSlis());
  const table = new Map<string, Handler>([
    ['/healthz', () => textReply('ok')],
    ['/metrics', async () => prometheus(await render())],
    ['/metrics/slis', async () => prometheus(await renderSlis())],
    ['/proxyMode', () => textReply(mode)],
    ['/configz', () => jsonReply(OK, JSON.stringify({ [CONFIG_GROUP]: options.configuration() }))],
  ]);
  if (flagz !== undefined) table.set('/flagz', () => flagzReply(flagz.flags()));
  if (statusz !== undefined) {
    const paths = [...table.keys()].sort();
    table.set('/statusz', () => statuszReply(statusz, paths));
  }
  return table;
}

/** The contents of /statusz. */
interface ComponentPage {
  readonly version: string;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
}

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility ' +
  'guarantees and is for debugging purposes only.';
const SECONDS_OF_MINUTE = 60;
const SECONDS_OF_HOUR = 3600;

/** The flags and their values, in the format of Kubernetes components. */
function flagzReply(flags: Readonly<Record<string, string>>): Reply {
  const names = Object.keys(flags).sort();
  return page('flagz', [WARNING, ...names.map((name) => `${name}: ${flags[name]}`)]);
}

function statuszReply(about: ComponentPage, paths: readonly string[]): Reply {
  const { clock, startedAtMs } = about;
  const upSeconds = Math.floor((clock.monotonicMs() - startedAtMs) / 1000);
  return page('statusz', [
    WARNING,
    '',
    `Started  ${new Date(datesBy(clock)(startedAtMs)).toUTCString()}`,
    `Up  ${spanText(upSeconds)}`,
    `Node version  ${process.version}`,
    `Binary version  ${about.version}`,
    `Paths  ${paths.join(' ')}`,
  ]);
}

function page(name: string, lines: readonly string[]): Reply {
  return textReply(['', `fairlead ${name}`, ...lines, ''].join('\n'));
}

function spanText(seconds: number): string {
  const hours = Math.floor(seconds / SECONDS_OF_HOUR);
  const minutes = Math.floor((seconds % SECONDS_OF_HOUR) / SECONDS_OF_MINUTE);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${hours} hr ${two(minutes)} min ${two(seconds % SECONDS_OF_MINUTE)} sec`;
}

/**
 * Renders once for all requests of an event loop iteration. Every client gets a text that was
 * rendered after its request, and many concurrent requests cost as much as one.
 */
export function sharedRender(render: () => Promise<string>): () => Promise<Buffer> {
  let coming: Promise<Buffer> | undefined;
  return async () => {
    coming ??= new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      coming = undefined;
      return Buffer.from(await render());
    });
    return await coming;
  };
}
