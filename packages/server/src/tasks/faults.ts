import { Fields, invalidField, WaybillError } from '@waybill/core';

/** One thing that is wrong with a request. */
export interface Fault {
  /** As the caller wrote it, such as `tasks[2].dependsOn[0]`. */
  field: string;
  message: string;
}

/** More are not told: who sends so many has sent something else. */
const MOST = 100;

/** Gathers everything that is wrong with a request, so that the caller learns of it at once. */
export class Faults {
  readonly list: Fault[] = [];

  get isEmpty(): boolean {
    return this.list.length === 0;
  }

  add(field: string, message: string): void {
    this.list.push({ field, message });
  }

  /** What the check makes of a value; undefined where it refuses it. */
  of<T>(check: () => T): T | undefined {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof WaybillError)) throw error;
      const field = error.details?.['field'];
      this.add(typeof field === 'string' ? field : 'body', error.message);
      return undefined;
    }
  }

  /** Every field that is not known, and not the first one only. */
  unknownIn(value: object, known: readonly string[], at: string): void {
    for (const name of Object.keys(value))
      if (!known.includes(name)) this.of(() => new Fields({ [name]: true }, at).refuseUnknown(known));
  }

  /** Refuses the request, unless there is nothing wrong with it. */
  check(): void {
    const [first, ...others] = this.list;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` ${others.length} more: see details.errors.`;
    throw new WaybillError('invalid_request', `${first.message}${more}`, {
      details: { field: first.field, errors: this.list.slice(0, MOST) },
    });
  }
}

/** A text with something in it. */
export function filled(fields: Fields, name: string, max: number): string | undefined {
  const text = fields.string(name, { max });
  if (text !== undefined && text.trim() === '') throw invalidField(fields.name(name), 'must not be empty.');
  return text;
}
