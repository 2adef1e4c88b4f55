import { invalidField } from '../errors.ts';

const MAX_LENGTH = 256;
/** Control characters, and halves of surrogate pairs: not every database takes them, and one would sink its whole batch. */
const UNPRINTABLE = /\p{C}/u;

export function checkWorkerId(id: string, field = 'worker_id'): string {
  if (typeof id === 'string' && id.length > 0 && id.length <= MAX_LENGTH && id.isWellFormed() && !UNPRINTABLE.test(id))
    return id;
  throw invalidField(field, `must be 1 to ${MAX_LENGTH} printable characters.`, { max: MAX_LENGTH });
}
