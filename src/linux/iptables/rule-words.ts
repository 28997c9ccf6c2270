/** The words of a rule as `iptables-save` prints it, one after the other. */
export class RuleWords {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Empty: there is none, or it has an unsupported form. */
  next(): string {
    const text = this.#text;
    const from = this.#at;
    if (text[from] === '"') return this.#quoted(from + 1);
    const end = text.indexOf(' ', from);
    const to = end === -1 ? text.length : end;
    this.#at = to + 1;
    return text.slice(from, to);
  }

  /** Steps over the word if it is the next one. */
  take(word: string): boolean {
    const end = this.#at + word.length;
    if (!this.#text.startsWith(word, this.#at)) return false;
    if (end < this.#text.length && this.#text[end] !== ' ') return false;
    this.#at = end + 1;
    return true;
  }

  /** The word after a certain one; empty when that one is not there. */
  after(word: string): string {
    return this.take(word) ? this.next() : '';
  }

  #quoted(from: number): string {
    const end = this.#text.indexOf('"', from);
    const word = end === -1 ? '' : this.#text.slice(from, end);
    this.#at = end === -1 ? this.#text.length : end + 2;
    // Escaped quotes do not occur in our rules.
    return word.includes('\\') ? '' : word;
  }
}
