export type { Check } from '../doctor/check.ts';
export type { ClientTimeouts } from '../timeouts.ts';
export { sqsOptionsOf } from './address.ts';
export { type Adopt, type Adopted, type Attributes, adoptByDefault, type NotAdopted } from './adopt.ts';
export { examineSqs } from './doctor.ts';
export type { QueueUrls, SqsOptions } from './settings.ts';
export { type SqsTransport, sqsTransport } from './sqs-transport.ts';
