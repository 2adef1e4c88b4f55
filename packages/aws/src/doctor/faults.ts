import { endpointOf, isSilence } from '../silence.ts';
import type { Check } from './check.ts';

/** What was asked of AWS, for the sentence about what went wrong with it. */
export interface Asked {
  service: 'DynamoDB' | 'SQS';
  /** As policies name it: `dynamodb:PutItem`. */
  action: string;
  resource: string;
}

export interface Fault {
  message: string;
  hint?: string;
}

const DENIED = /^AccessDenied(Exception)?$|^UnauthorizedOperation$/;
const NO_CREDENTIALS = /^CredentialsProviderError$|^TokenProviderError$|^MissingAuthenticationToken/;
const WRONG_CREDENTIALS =
  /^UnrecognizedClientException$|^InvalidClientTokenId$|^InvalidAccessKeyId$|^SignatureDoesNotMatch$|^IncompleteSignature/;
const EXPIRED_CREDENTIALS = /^ExpiredToken(Exception)?$/;
const SKEWED = /^RequestTimeTooSkewed$|^RequestExpired$/;
/** AWS has the same name for a wrong secret and for a signature that is too old or too new. */
const SIGNATURE = /^InvalidSignatureException$/;

export const isDenied = (error: unknown): boolean => DENIED.test(nameOf(error));

/** Which action on which resource was refused. AWS says it itself; where it does not, it is what was asked. */
export function deniedBy(error: unknown, { action, resource }: Asked): string {
  const told = /not authorized to perform: (\S+)(?: on resource: (\S+))?/.exec(textOf(error));
  // SQS writes actions in small letters.
  const isSame = told?.[1]?.toLowerCase() === action.toLowerCase();
  return `${told && !isSame ? told[1] : action} on ${told?.[2] ?? resource}`;
}

/** What is wrong when a call to AWS fails, and what to do about it. */
export function faultOf(error: unknown, asked: Asked): Fault {
  const { service } = asked;
  const [name, text] = [nameOf(error), textOf(error)];
  if (DENIED.test(name)) {
    return {
      message: `not allowed: ${deniedBy(error, asked)}`,
      hint: 'Add it to the policy of this role; docs/aws.md lists all that is needed.',
    };
  }
  if (NO_CREDENTIALS.test(name)) {
    return {
      message: 'no credentials were found',
      hint: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE, or give the machine a role.',
    };
  }
  if (EXPIRED_CREDENTIALS.test(name)) return { message: 'the credentials have expired', hint: 'Log in again.' };
  if (SKEWED.test(name) || (SIGNATURE.test(name) && /expired|not yet current/i.test(text))) {
    return { message: `${service} takes the clock of this machine for wrong`, hint: 'Let NTP set it.' };
  }
  if (WRONG_CREDENTIALS.test(name) || SIGNATURE.test(name)) {
    return {
      message: `${service} does not know these credentials`,
      hint: 'Check the key, its secret and the account.',
    };
  }
  if (/region is missing/i.test(text)) {
    return { message: 'no region is named', hint: 'Name it in the address, or set AWS_REGION.' };
  }
  if (isSilence(error)) {
    const endpoint = endpointOf(error);
    return {
      message: `${service} cannot be reached${endpoint === undefined ? '' : ` at ${endpoint}`}: ${text}`,
      hint: 'Check the region, the endpoint of the address, and whether the network lets it through.',
    };
  }
  return { message: text };
}

export const failed = (name: string, status: Check['status'], error: unknown, asked: Asked): Check => ({
  ...{ name, status, ...faultOf(error, asked) },
});

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');
const textOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)) || nameOf(error) || codeOf(error);
const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
};
