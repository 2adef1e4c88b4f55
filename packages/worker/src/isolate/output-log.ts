import { StringDecoder } from 'node:string_decoder';
import type { Logger } from '@waybill/core';
import type { OutputStream } from './contained.ts';

const LONGEST_LINE = 4_000;

interface Run {
  task: string;
  job: string;
  run: number;
}

/** Writes what a process prints to the worker's log, a line each, marked by `label` in brackets. */
export class OutputLog {
  readonly #logger: Logger;
  readonly #run: Run;
  readonly #label: string;
  readonly #streams: Record<OutputStream, { decoder: StringDecoder; rest: string }> = {
    stdout: { decoder: new StringDecoder('utf8'), rest: '' },
    stderr: { decoder: new StringDecoder('utf8'), rest: '' },
  };

  constructor(logger: Logger, run: Run, label: string) {
    this.#logger = logger;
    this.#run = run;
    this.#label = label;
  }

  add(chunk: Buffer, name: OutputStream): void {
    const stream = this.#streams[name];
    const [first = '', ...others] = stream.decoder.write(chunk).split(/\r?\n/);
    // Only so much of a line is logged, so no more than that is kept of one that does not end.
    const begun = stream.rest.length < LONGEST_LINE ? stream.rest + first : stream.rest;
    const lines = [begun, ...others];
    stream.rest = lines.pop()!.slice(0, LONGEST_LINE);
    for (const line of lines) this.#log(line, name);
  }

  end(): void {
    for (const name of ['stdout', 'stderr'] as const) {
      const stream = this.#streams[name];
      const last = stream.rest + stream.decoder.end();
      if (last !== '') this.#log(last, name);
    }
  }

  #log(line: string, stream: OutputStream): void {
    this.#logger.info({ ...this.#run, stream }, `[${this.#label}] ${line.slice(0, LONGEST_LINE)}`);
  }
}
