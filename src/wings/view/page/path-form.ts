import { h } from './dom.ts';
import type { ScreenContext } from './page-screens.ts';
import { routeTo } from './route.ts';

const PROBES: readonly (readonly [value: string, label: string])[] = [
  ['', 'predict only, send nothing'],
  ['dry', 'dry: a packet that is dropped after all rules'],
  ['syn', 'syn: one SYN, reset after its answer'],
  ['connect', 'connect: a whole connection'],
];

/** Asks another question. Packets are sent only where the command allows it. */
export function pathForm({ route, store, go }: ScreenContext): HTMLElement {
  const { target = '', from = '', probe = '' } = route.params;
  const targetInput = field({
    name: 'target',
    value: target,
    placeholder: 'shop/web:http or 10.96.0.10:80',
  });
  const fromInput = field({ name: 'from', value: from, placeholder: 'a pod of this node' });
  fromInput.setAttribute('list', 'from-choices');
  const choices = h(
    'datalist',
    { at: { id: 'from-choices' } },
    ...['host', 'pod:NAMESPACE/NAME', '203.0.113.9'].map((value) => h('option', { at: { value } })),
  );
  const probes = h(
    'select',
    { at: { name: 'probe' } },
    ...PROBES.map(([value, label]) =>
      h('option', { at: { value, selected: value === probe ? '' : undefined } }, label),
    ),
  );
  const mayProbe = store.about?.mayProbe === true;
  const form = h(
    'form',
    { class: 'path-form' },
    h('label', {}, h('span', {}, 'to'), targetInput),
    h('label', {}, h('span', {}, 'from'), fromInput),
    mayProbe ? h('label', {}, h('span', {}, 'proof'), probes) : undefined,
    h('button', { class: 'main', at: { type: 'submit' } }, 'Explain'),
    choices,
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go(
      routeTo('path', {
        target: targetInput.value.trim(),
        from: fromInput.value.trim(),
        probe: mayProbe ? probes.value : '',
      }),
    );
  });
  const why = mayProbe
    ? undefined
    : h(
        'span',
        {},
        'Predictions only: start ',
        h('code', {}, 'fairlead view --allow-probes'),
        ' to send packets from here. ',
      );
  return h(
    'div',
    {},
    form,
    h(
      'p',
      { class: 'sub' },
      why,
      'On the terminal: ',
      h('code', { data: { fact: 'command' } }, commandOf({ target, from, probe })),
    ),
  );
}

function field({
  name,
  value,
  placeholder,
}: {
  readonly name: string;
  readonly value: string;
  readonly placeholder: string;
}): HTMLInputElement {
  return h('input', {
    at: { name, value, placeholder, autocomplete: 'off', spellcheck: 'false', maxlength: 400 },
  });
}

function commandOf({
  target,
  from,
  probe,
}: {
  readonly target: string;
  readonly from: string;
  readonly probe: string;
}): string {
  const parts = [
    'fairlead explain',
    quoted(target || 'TARGET'),
    from === '' ? '' : `--from ${quoted(from)}`,
    probe === '' ? '' : `--probe ${probe}`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
