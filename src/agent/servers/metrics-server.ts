import type { ConnectionBudget } from './connection-budget.ts';
import { type ComponentPage, flagzReply, statuszReply } from './debug-pages.ts';
import { openHttpServer } from './http.ts';
import { keepServing, retryLikeKubeProxy } from './keep-serving.ts';
import type { OpenServer } from './open-server.ts';
import { type Handler, jsonReply, type Reply, routes, textReply } from './reply.ts';
import type { ServerProblemListener } from './server-error.ts';
import { sharedRender } from './shared-render.ts';

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
