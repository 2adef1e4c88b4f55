// For functions that answer requests. Those that work on rows and events are in `@waybill/aws/lambda`.

export { type ApiHandlerOptions, apiHandler } from './api-handler.ts';
