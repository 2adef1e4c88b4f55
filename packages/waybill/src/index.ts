export { engine, WaybillError } from '@waybill/core';
export { openStore } from './connect/open-store.ts';
