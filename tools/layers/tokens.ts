/**
 * Splits TypeScript source into tokens. It is not a parser: its whole job is that text inside
 * comments, strings, templates and regular expressions is never mistaken for code.
 */
export interface Token {
  /** `template` starts a template; `template-text` is each later piece, after a substitution. */
  readonly kind: 'word' | 'string' | 'template' | 'template-text' | 'literal' | 'mark';
  /** For strings: the text between the quotes, as written. Empty for templates. */
  readonly text: string;
  /** For templates: the text up to the next substitution or the end. */
  readonly piece?: string;
  /** For templates: whether this piece ends the template. */
  readonly isLast?: boolean;
  readonly line: number;
}

export function tokens(source: string): readonly Token[] {
  return new Scanner(source).scan();
}

const HASHBANG = /#![^\n]*/y;
const BLANK_OR_COMMENT = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))+/y;
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*/uy;
const NUMBER = /\.?\d[\w.]*/y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;

/** After these words an expression begins, so a slash opens a regular expression. */
const WORDS_BEFORE_EXPRESSION = new Set(
  'await case default delete do else extends in instanceof new of return throw typeof void yield'.split(
    ' ',
  ),
);

/** The parenthesis after these words closes a statement's head, not an operand. */
const WORDS_BEFORE_HEAD = new Set(['for', 'if', 'while', 'with']);

type Bracket = 'head' | 'plain' | 'substitution';

class Scanner {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  readonly #brackets: Bracket[] = [];
  #at = 0;
  #line = 1;
  /** Whether the last token ended an operand: then a slash divides. */
  #afterOperand = false;

  constructor(source: string) {
    this.#source = source;
  }

  scan(): readonly Token[] {
    this.#take(HASHBANG);
    while (this.#at < this.#source.length) this.#scanOne();
    return this.#tokens;
  }

  #scanOne(): void {
    if (this.#take(BLANK_OR_COMMENT) !== undefined) return;
    const line = this.#line;
    const word = this.#take(WORD);
    if (word !== undefined) {
      const expressionFollows = WORDS_BEFORE_EXPRESSION.has(word) && !this.#afterDot();
      this.#push({ kind: 'word', text: word, line }, !expressionFollows);
      return;
    }
    const string = this.#take(STRING);
    if (string !== undefined) {
      this.#push({ kind: 'string', text: string.slice(1, -1), line }, true);
      return;
    }
    const literal = this.#take(NUMBER) ?? (this.#afterOperand ? undefined : this.#take(REGEX));
    if (literal !== undefined) {
      this.#push({ kind: 'literal', text: literal, line }, true);
      return;
    }
    this.#scanMark(line);
  }

  #scanMark(line: number): void {
    const mark = this.#source.charAt(this.#at);
    this.#at += 1;
    switch (mark) {
      case '`':
        this.#scanTemplateText('template', line);
        return;
      case '(':
      case '[':
      case '{':
        this.#brackets.push(mark === '(' && this.#afterHeadWord() ? 'head' : 'plain');
        this.#push({ kind: 'mark', text: mark, line }, false);
        return;
      case '}':
        if (this.#brackets.pop() === 'substitution') {
          this.#scanTemplateText('template-text', line);
          return;
        }
        // Far more often the end of a block than of an object that is divided.
        this.#push({ kind: 'mark', text: mark, line }, false);
        return;
      case ')':
        this.#push({ kind: 'mark', text: mark, line }, this.#brackets.pop() !== 'head');
        return;
      case ']':
        this.#brackets.pop();
        this.#push({ kind: 'mark', text: mark, line }, true);
        return;
      default:
        this.#push({ kind: 'mark', text: mark, line }, this.#afterOperand && this.#isPostfix(mark));
    }
  }

  /** `x++`, `x--` and TypeScript's `x!` leave an operand an operand. */
  #isPostfix(mark: string): boolean {
    const next = this.#source.charAt(this.#at);
    if (mark === '!') return next !== '=';
    if (mark !== '+' && mark !== '-') return false;
    if (next !== mark) return false;
    this.#at += 1;
    return true;
  }

  #scanTemplateText(kind: 'template' | 'template-text', line: number): void {
    const piece = this.#take(TEMPLATE_TEXT) ?? '';
    const isLast = this.#source.charAt(this.#at) === '`';
    this.#push({ kind, text: '', piece, isLast, line }, isLast);
    if (isLast) {
      this.#at += 1;
    } else {
      this.#at += '${'.length;
      this.#brackets.push('substitution');
    }
  }

  #afterDot(): boolean {
    return this.#tokens.at(-1)?.text === '.';
  }

  #afterHeadWord(): boolean {
    const last = this.#tokens.at(-1);
    return last?.kind === 'word' && WORDS_BEFORE_HEAD.has(last.text);
  }

  #push(token: Token, endsOperand: boolean): void {
    this.#tokens.push(token);
    this.#afterOperand = endsOperand;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (text === undefined) return undefined;
    this.#at += text.length;
    this.#line += text.split('\n').length - 1;
    return text;
  }
}
