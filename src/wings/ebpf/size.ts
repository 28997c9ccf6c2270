import { type ClusterSize, type MapSize, mapSizes } from './plane/maps/map-sizes.ts';
import { readPrograms, SOCKET_PROGRAMS } from '../../linux/bpf/shipped-programs.ts';

export function sizeOfMaps(cluster: ClusterSize): readonly MapSize[] {
  return mapSizes(readPrograms(SOCKET_PROGRAMS).maps, cluster);
}
