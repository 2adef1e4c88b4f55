import type { AlertOptions } from '@waybill/server';

/** Where incidents are told: what the variables say, and what there is no variable for. */
export function alertsIn(
  options: Pick<AlertOptions, 'from' | 'log'> | undefined,
  env: Readonly<Record<string, string | undefined>>,
): AlertOptions {
  const [token, channel] = [env['WAYBILL_SLACK_TOKEN'], env['WAYBILL_SLACK_CHANNEL']];
  const [webhookUrl, url] = [env['WAYBILL_SLACK_WEBHOOK'], env['WAYBILL_ALERT_WEBHOOK']];
  const secret = env['WAYBILL_ALERT_WEBHOOK_SECRET'];
  const slack = { ...(token && { token }), ...(channel && { channel }), ...(webhookUrl && { webhookUrl }) };
  return {
    ...options,
    ...(Object.keys(slack).length > 0 && { slack }),
    ...(url && { webhook: { url, ...(secret && { secret }) } }),
  };
}
