import { notFound } from './admission.ts';
import type { PageFile } from './page-files.ts';
import { jsonResponse, type WholeResponse } from './response.ts';
import type { PathQuestion, ViewData } from './view-data.ts';
import { ViewProblem } from './view-problem.ts';

export interface Site {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly data: ViewData;
  /** `--allow-probes`. */
  readonly mayProbe: boolean;
}

export const TICKS_PATH = '/data/ticks';

const OK = 200;
const BAD_REQUEST = 400;
const FORBIDDEN = 403;
const PROBES: ReadonlySet<string> = new Set(['dry', 'syn', 'connect', 'none']);
const LONGEST_PARAMETER = 600;

type Query = URLSearchParams;

/** Answers everything but the stream of ticks. Throws ViewProblem. */
export async function answer(site: Site, path: string, query: Query): Promise<WholeResponse> {
  const file = site.files.get(path);
  if (file !== undefined) return { status: OK, type: file.type, body: file.body };
  const { data } = site;
  switch (path) {
    case '/data/node':
      return jsonResponse(await data.node());
    case '/data/dots':
      return jsonResponse(await data.dots());
    case '/data/search':
      return jsonResponse(await data.search(needed(query, 'q')));
    case '/data/service':
      return await serviceResponse(data, needed(query, 'name'));
    case '/data/changes':
      return jsonResponse(
        await data.changes({ before: beforeOf(query), service: optional(query, 'service') }),
      );
    case '/data/path':
      return jsonResponse(await data.path(pathQuestion(query, site.mayProbe)));
    case '/data/doctor':
      return jsonResponse(await data.doctor());
    default:
      throw notFound();
  }
}

async function serviceResponse(data: ViewData, name: string): Promise<WholeResponse> {
  const service = await data.service(name);
  if (service !== undefined) return jsonResponse(service);
  throw new ViewProblem(notFound().status, {
    code: 'SERVICE_NOT_FOUND',
    message: `Service ${name} does not exist, or proxies do not serve it`,
  });
}

function pathQuestion(query: Query, mayProbe: boolean): PathQuestion {
  const probe = optional(query, 'probe') ?? 'none';
  const from = optional(query, 'from');
  if (!PROBES.has(probe)) throw wrong('probe', 'use dry, syn, connect or none');
  // `netns:PATH`, `pid:NUMBER`, `ADDRESS@PATH`.
  const isNamespace = /^(?:netns|pid):|@/.test(from ?? '');
  if (!mayProbe && (probe !== 'none' || isNamespace)) {
    throw new ViewProblem(FORBIDDEN, {
      code: 'PROBES_NOT_ALLOWED',
      message: 'this page may not send packets, nor enter network namespaces',
      next: 'start `fairlead view --allow-probes`, or ask `fairlead explain` on the terminal',
    });
  }
  return { target: needed(query, 'target'), from, probe: probe as PathQuestion['probe'] };
}

function beforeOf(query: Query): number | undefined {
  const text = optional(query, 'before');
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw wrong('before', 'use a number of an entry');
  return Number(text);
}

function needed(query: Query, name: string): string {
  const text = optional(query, name);
  if (text === undefined) throw wrong(name, 'give it');
  return text;
}

/** An empty one counts as none. */
function optional(query: Query, name: string): string | undefined {
  const text = query.get(name) ?? '';
  if (text.length > LONGEST_PARAMETER) throw wrong(name, 'make it shorter');
  return text === '' ? undefined : text;
}

function wrong(name: string, next: string): ViewProblem {
  return new ViewProblem(BAD_REQUEST, {
    code: 'WRONG_PARAMETER',
    message: `the parameter ${name} is missing or wrong`,
    next,
  });
}
