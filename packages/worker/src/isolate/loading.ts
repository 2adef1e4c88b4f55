/** Set to the name of a task while its module is loaded for an isolated run, so that a worker which it starts can be refused. */
export const LOADING = Symbol.for('waybill.isolate.loading');
