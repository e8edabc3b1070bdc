/** Dry run of a creation: validates and prices a task without creating it. */

import { type DryRunRequest, dryRun } from '../../pipeline/hold/dry-run.ts'
import type { Quote } from '../../pipeline/hold/quote.ts'
import type { Customer, ResolvedCall } from '../../pipeline/request/resolve.ts'
import type { Engine } from '../engine.ts'
import type { TaskSubmission } from '../submission.ts'
import { canServe, planOrder, readParameters } from './create-task.ts'
import { quoteTask } from './plan.ts'

/**
 * Computes the hold of a creation. Rejects as the creation would, except that URLs in the request
 * are neither checked nor fetched: nothing leaves the gateway.
 */
export async function dryRunTask(
  submission: TaskSubmission,
  request: DryRunRequest,
  customer: Customer,
  engine: Engine,
): Promise<{ readonly call: ResolvedCall; readonly quoted: Quote }> {
  const { services } = engine
  const call = await dryRun(submission, request, customer, services, (upstream) => {
    return canServe(upstream, submission)
  })
  const parameters = await readParameters(submission, call, customer, engine)
  const { plans } = planOrder(submission, call, parameters, engine)
  return { call, quoted: quoteTask(call, plans) }
}
