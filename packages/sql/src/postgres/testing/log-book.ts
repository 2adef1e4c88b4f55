import { inspect } from 'node:util';
import type { Logger } from '@waybill/core';

/** Keeps what is logged, and lets a test wait for a line. */
export class LogBook implements Logger {
  readonly lines: { level: keyof Logger; fields: object; message: string }[] = [];
  #watchers: (() => void)[] = [];

  debug = this.#at('debug');
  info = this.#at('info');
  warn = this.#at('warn');
  error = this.#at('error');

  messages(level: keyof Logger): string[] {
    return this.lines.filter((line) => line.level === level).map(({ message }) => message);
  }

  /** Everything, as deep as a logger might print it. */
  get text(): string {
    return inspect(this.lines, { depth: 12, showHidden: true });
  }

  async line(level: keyof Logger, pattern: RegExp): Promise<void> {
    while (!this.messages(level).some((message) => pattern.test(message))) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  #at(level: keyof Logger) {
    return (fields: object, message: string): void => {
      this.lines.push({ level, fields, message });
      for (const tell of this.#watchers.splice(0)) tell();
    };
  }
}
