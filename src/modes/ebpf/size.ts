import { type ClusterSize, type MapSize, mapSizes } from '../../dataplanes/ebpf/maps/map-sizes.ts';
import { readPrograms, SOCKET_PROGRAMS } from './programs.ts';

export function sizeOfMaps(cluster: ClusterSize): readonly MapSize[] {
  return mapSizes(readPrograms(SOCKET_PROGRAMS).maps, cluster);
}
