import type { MessageInitShape } from '@bufbuild/protobuf';
import { timeOf } from '@waybill/client/rpc';
import type { BudgetInfo } from '@waybill/core';
import type { BudgetSchema } from '@waybill/protocol';

export const budgetToRpc = ({
  tenant: _,
  key,
  isExceeded,
  endsAt,
  ...budget
}: BudgetInfo): MessageInitShape<typeof BudgetSchema> => ({
  ...{ ...budget, exceeded: isExceeded },
  ...(key !== null && { key }),
  ...(endsAt !== null && { endsAt: timeOf(endsAt) }),
});
