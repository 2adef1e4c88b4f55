import { existsSync } from 'node:fs';

/** Lower case alone, because hardly any random text has no other letters. */
const PATH = /^(?:\.{0,2}\/)(?:[a-z0-9._-]+\/)*[a-z0-9._-]*$/;
/** Neither base64 nor PEM has an ending like these. */
const WITH_ENDING = /^(?:[\w.-]{0,64}\/){0,32}[\w.-]{1,64}\.(?:json|txt|key|pem|crt|cer|secret|ya?ml)$/;

/**
 * The name of a file that holds a secret, for messages and lists. The secret itself may stand where its file is expected, so
 * a text that neither is a file nor looks like the path of one is masked.
 */
export const shownFile = (file: string): string =>
  existsSync(file) || PATH.test(file) || WITH_ENDING.test(file) ? file : '***';
