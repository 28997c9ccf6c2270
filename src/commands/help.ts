import { Command, Help, type Option } from 'commander';

export const ABOUT =
  'A Kubernetes node proxy: serves Service addresses on this machine, and shows how';

/** Descriptions of flags with longer names go on the next line. */
const WIDEST_TERM = 32;
const USUAL_WIDTH = 80;
const BELOW = ' '.repeat(6);

/** Description of an option, with choices and default. */
export function optionDescription(option: Option): string {
  const { description, argChoices, defaultValue, defaultValueDescription } = option;
  const shown = defaultValueDescription ?? defaultValue;
  const more = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(shown === undefined ? [] : [`default ${String(shown)}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join('; ')})`;
}

/** One entry, wrapped to 80 columns. */
export function formatItem(...item: Parameters<Help['formatItem']>): string {
  const [term, termWidth, description, helper] = item;
  if (termWidth <= WIDEST_TERM) return Help.prototype.formatItem.call(helper, ...item);
  const width = (helper.helpWidth ?? USUAL_WIDTH) - BELOW.length;
  const lines = helper.boxWrap(description, width).split('\n');
  return [`  ${term}`, ...lines.map((line) => `${BELOW}${line}`)].join('\n');
}

export function helpCommand(): Command {
  return new Command('help')
    .argument('[command]')
    .description('show the help of a command')
    .helpGroup('Configure and maintain:');
}
