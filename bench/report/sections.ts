import type { Run } from '../record.ts';
import {
  changeSection,
  coldSection,
  limitSection,
  loadsSection,
  stagesSection,
} from './control-tables.ts';
import { connectionsSection, requestsSection, trafficSection } from './data-tables.ts';
import { growthSection } from './growth-table.ts';
import type { Section } from './section.ts';

export function sectionsOf(run: Run): Section[] {
  return [
    coldSection(run),
    changeSection(run),
    stagesSection(run),
    loadsSection(run),
    growthSection(run),
    connectionsSection(run),
    requestsSection(run),
    trafficSection(run),
    limitSection(run),
  ];
}
