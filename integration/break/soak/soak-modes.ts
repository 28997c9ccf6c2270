import { planeProxy, SCENE_PROXIES } from '../faults/plane/plane-proxies.ts';

/** Modes that this kernel can run. */
export const SOAK_MODES: readonly string[] = SCENE_PROXIES.map((name) => planeProxy(name).mode);
