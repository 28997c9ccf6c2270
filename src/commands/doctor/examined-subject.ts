import { join } from 'node:path';
import type { AgentNode } from '../../agent/servers/agent-node.ts';
import { ServerError, systemCodeOf } from '../../agent/servers/server-error.ts';
import { readNode, readRows, readStatus } from '../../agent/servers/status-client.ts';
import type { StatusPage } from '../../agent/status-page.ts';
import { DEFAULT_MODE } from '../../config/modes.ts';
import { STATUS_SOCKET } from '../../config/run-folder.ts';
import type { Difference } from '../../dataplanes/contract.ts';
import { readPlaces } from '../../doctor/address-places.ts';
import type { AgentState, ModeAbout, ServedNode, Subject } from '../../doctor/subject.ts';
import { kernelSysctls } from '../../linux/sysctl.ts';
import type { Mode } from '../../modes/mode.ts';
import { allModes } from '../../modes/mode-registry.ts';
import { findBasis } from '../basis/basis.ts';
import { leftInKernel } from '../basis/left-in-kernel.ts';
import { assertSameNetwork, persistentDifferences } from '../diff/persistent-differences.ts';

/** What the agent said, and what the checks are about. */
export interface Patient {
  readonly subject: Subject;
  readonly agent: AgentNode | undefined;
  readonly status: StatusPage | undefined;
  readonly runFolder: string;
}

/** Asks the agent, where one runs. Throws where it serves another network namespace. */
export async function readPatient(runFolder: string): Promise<Patient> {
  const socketPath = join(runFolder, STATUS_SOCKET);
  try {
    const agent = await readNode({ socketPath });
    assertSameNetwork(agent, { name: 'doctor', orElse: '' });
    const status = (await readStatus({ socketPath })) as StatusPage;
    const rows = (await readRows({ socketPath })).map(({ forwarding }) => forwarding);
    const node: ServedNode = {
      facts: agent.facts,
      rows,
      differences: once(() => differencesOf(runFolder)),
    };
    const { pid, mode } = agent;
    const { conditions, fallback } = status;
    const state: AgentState = { state: 'answers', pid, conditions, ...(fallback && { fallback }) };
    return {
      subject: await subjectOf({ agent: state, node, usedMode: mode }, runFolder),
      agent,
      status,
      runFolder,
    };
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    const agent = silentState(error);
    const subject = await subjectOf({ agent, node: undefined, usedMode: DEFAULT_MODE }, runFolder);
    return { subject, agent: undefined, status: undefined, runFolder };
  }
}

async function subjectOf(
  asked: Pick<Subject, 'agent' | 'node' | 'usedMode'>,
  runFolder: string,
): Promise<Subject> {
  return {
    ...asked,
    leftInKernel: () => leftInKernel({ runFolder }),
    sysctls: kernelSysctls(),
    places: once(() => readPlaces(asked.node?.rows ?? [])),
    modes: (await allModes()).map(modeAbout),
  };
}

function modeAbout({ name, service, sysctls = [], usesKubeProxyChains }: Mode): ModeAbout {
  return {
    name,
    capabilities: service.capabilities,
    programs: service.programs ?? [],
    kernel: service.kernel,
    sysctls,
    usesKubeProxyChains: usesKubeProxyChains === true,
  };
}

function silentState(error: ServerError): AgentState {
  switch (systemCodeOf(error.cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { state: 'absent' };
    case 'ECONNREFUSED':
      return { state: 'dead' };
    case 'EACCES':
    case 'EPERM':
      return { state: 'forbidden' };
    default:
      return { state: 'silent', why: error.message };
  }
}

async function differencesOf(runFolder: string): Promise<readonly Difference[]> {
  const basis = await findBasis({ flags: new Map(), options: { runFolder } });
  return await persistentDifferences(basis, { runFolder });
}

/** Several checks need it; it is read for the first. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}
