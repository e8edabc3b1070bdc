/** Runs an endpoint of any kind. */

import type { Context } from '../../base/http/context.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import { type DetachedRun, meter } from '../../work/pipeline/meter.ts'
import { admitUncharged } from '../../work/pipeline/request/admit.ts'
import { enter } from '../../work/pipeline/request/enter.ts'
import type { AccountEndpoint, Endpoint, MeteredEndpoint, PlainServices } from './endpoint.ts'

/** Throws GatewayError for every refusal. */
export function runEndpoint(
  endpoint: Endpoint,
  context: Context,
  services: PlainServices,
): Promise<void> {
  return endpoint.kind === 'metered'
    ? meter(context, endpoint.metering, services, detachedOf(endpoint, services))
    : runOther(endpoint, context, services)
}

async function runOther(
  endpoint: Exclude<Endpoint, MeteredEndpoint>,
  context: Context,
  services: PlainServices,
): Promise<void> {
  switch (endpoint.kind) {
    case 'task':
      return services.tasks.create(context, endpoint.submission)
    case 'account':
      return runForAccount(endpoint, context, services)
    case 'plain':
      return endpoint.handle(context, services)
  }
}

function detachedOf({ background }: MeteredEndpoint, { tasks }: PlainServices) {
  if (!background) return undefined
  const detached: DetachedRun = {
    isRequested: background.background.isRequested,
    run: (context, caller, call) => tasks.background.create(context, background, caller, call),
  }
  return detached
}

function runForAccount(
  endpoint: AccountEndpoint,
  context: Context,
  services: PlainServices,
): Promise<void> {
  return enter(context, services, async (caller) => {
    if (endpoint.isForOwners && caller.isPlayground) throw new GatewayError('forbidden')
    await admitUncharged(context, caller, services)
    await endpoint.handle(context, caller, services)
  })
}
