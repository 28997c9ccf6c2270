import { dirname } from 'node:path';
import type { AskedCase } from '../../../explain/explain.ts';
import type { NotPermitted, ProvenPacket } from '../../../explain/proof/proof.ts';
import type { Prediction } from '../../../forwarding/answer/prediction.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { modeNamed } from '../../../modes/mode-registry.ts';
import type { Basis } from '../../basis/basis.ts';
import type { From } from '../from.ts';
import { planProbe, type WantedProbe } from './probe-kind.ts';
import { prove } from './prove.ts';

/** Sends a packet where it can be sent; else why not, in words. Undefined: none was to be sent. */
export async function packetFor(
  asked: AskedCase,
  sent: {
    readonly basis: Basis;
    readonly from: From;
    readonly probe: WantedProbe;
    readonly size?: number | undefined;
    readonly prediction: Prediction;
    readonly rows: readonly Forwarding[];
  },
): Promise<ProvenPacket | NotPermitted | string | undefined> {
  const { basis, from, probe, size, prediction, rows } = sent;
  if (probe === 'none' || (probe === undefined && basis.by !== 'agent')) return undefined;
  const { proof } = await modeNamed(basis.config.settings.mode);
  const namespacePath = namespaceOf(from);
  const planned = await planProbe(probe, {
    basis,
    asked,
    prediction,
    mode: proof,
    namespacePath,
    size,
  });
  if (typeof planned === 'string' || 'needs' in planned) return planned;
  if (basis.by !== 'agent') throw new TypeError('a packet needs an agent');
  const { affinitySeconds, endpoints } =
    prediction.code === 'WOULD_REACH' ? prediction : { affinitySeconds: 0, endpoints: [] };
  const { facts } = basis.agent;
  return await prove(planned, {
    to: asked.to,
    desired: { facts, rows },
    affinitySeconds,
    endpoints,
    runFolder: dirname(basis.socketPath),
    pinFolder: basis.config.settings.ebpf.pinFolder,
    sourceClass: asked.source.class,
    found: 'row' in prediction ? prediction : undefined,
  });
}

/** Undefined: none was named. */
function namespaceOf(from: From): string | undefined {
  if (from.by === 'namespace') return from.path;
  return from.by === 'address' ? from.namespacePath : undefined;
}
