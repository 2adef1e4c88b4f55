import { existsSync } from 'node:fs';

/** Lower case alone, because hardly any random text has no other letters. */
const PATH = /^(?:\.{0,2}\/)(?:[a-z0-9._-]+\/)*[a-z0-9._-]*$/;
const NAME_WITH_ENDING = /^[\w-]{1,64}\.(?:json|txt|key|pem|secret|ya?ml)$/;

/**
 * The name of a file that holds a secret, for messages and lists. The secret itself may stand where its file is expected, so
 * a text that neither is a file nor looks like the path of one is masked.
 */
export const shownFile = (file: string): string =>
  existsSync(file) || PATH.test(file) || NAME_WITH_ENDING.test(file) ? file : '***';
