/** For a call beside this client: what went wrong when no answer came. */
export { noAnswer } from './no-answer.ts';
export { type RemoteOptions, type RemoteWaybill, remote } from './remote.ts';
export { RemoteError } from './remote-error.ts';
export type { RemoteWebhooks, WebhookAndSecret, WebhookRedelivery } from './webhooks.ts';
