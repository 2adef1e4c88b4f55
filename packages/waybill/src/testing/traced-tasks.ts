import { trace } from '@opentelemetry/api';
import { task } from '@waybill/worker';
import { connect } from '../sdk/connect.ts';

/** The module of a worker. What its handlers make must stay in the trace of the job that they run for. */
export const placeOrder = task('order.place', {
  queue: 'orders',
  run: async ({ server }: { server: string }, { log }) => {
    // As a library does it that a handler uses: it knows the API alone.
    trace.getTracer('shop').startSpan('charge the card').end();
    log('The card was charged.');
    const waybill = await connect(server, { telemetry: true });
    const steps = [{ type: 'mail.send', args: [{}], options: { queue: 'mails' } }];
    const { id } = await waybill.workflows.create({ type: 'chain', steps });
    await waybill.close();
    return id;
  },
});

export const sendMail = task('mail.send', { queue: 'mails', run: () => 'sent' });
