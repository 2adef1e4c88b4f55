export interface SseMessage {
  id?: string;
  event?: string;
  data?: string;
}

/** Reads server-sent events out of pieces of text, wherever they were cut. */
export class SseParser {
  #text = '';
  #message: SseMessage = {};

  /** The messages that this piece completes. One that never is completed is never told. */
  push(piece: string): SseMessage[] {
    this.#text += piece;
    const found: SseMessage[] = [];
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      if (line === '') {
        if (this.#message.id !== undefined || this.#message.data !== undefined) found.push(this.#message);
        this.#message = {};
      } else this.#field(line);
    }
    return found;
  }

  /** A line break is LF, CR or both; a CR at the end of a piece may be half of one. */
  #nextLine(): string | undefined {
    const end = this.#text.search(/[\r\n]/);
    if (end < 0 || (this.#text[end] === '\r' && end === this.#text.length - 1)) return undefined;
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + (this.#text.startsWith('\r\n', end) ? 2 : 1));
    return line;
  }

  #field(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'id' || name === 'event') this.#message[name] = value;
    else if (name === 'data') {
      const { data } = this.#message;
      this.#message.data = data === undefined ? value : `${data}\n${value}`;
    }
  }
}
