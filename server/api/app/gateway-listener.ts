/** Routes requests to the endpoints that this process offers, and runs each by its kind. */

import { isUnavailable } from '../../base/database/unavailable.ts'
import type { Context } from '../../base/http/context.ts'
import { createListener } from '../../base/http/listener.ts'
import { createRoutes } from '../../base/http/router.ts'
import { startTrace } from '../../base/http/trace-context.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import type { Telemetry } from '../../base/tracing/sdk.ts'
import { admitUncharged } from '../../work/pipeline/hold/take-hold.ts'
import { type DetachedRun, meter } from '../../work/pipeline/meter.ts'
import { enter } from '../../work/pipeline/request/identify.ts'
import type { Config } from '../config/config.ts'
import { createConsoleEndpoints } from '../console/serve.ts'
import type {
  AccountEndpoint,
  Endpoint,
  MeteredEndpoint,
  PlainServices,
} from '../endpoints/endpoint.ts'
import { isNativePath } from '../endpoints/native-prefixes.ts'
import { receiveVendorCallback } from '../endpoints/service/vendor-callback.ts'
import { envelopeOfMiss, UNSUPPORTED_PATHS } from '../endpoints/unsupported-paths.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { demoFor } from '../sign-in/people/demo.ts'
import { PROBES, recordRequest } from './access-log.ts'

function isOfWorkers(kind: Endpoint['kind'], documentation: Endpoint['documentation']): boolean {
  return kind === 'plain' && documentation.credential === undefined
}

/** Pages and the API of the console, and its event streams. */
function isConsole(path: string): boolean {
  return /^\/(?:admin|console)(?:[/?]|$)/.test(path) || path === '/'
}

/** Converts errors of an unavailable database to 503, so that callers retry later. */
function convertUnavailable(error: unknown): unknown {
  if (error instanceof GatewayError || !isUnavailable(error)) return error
  return new GatewayError('unavailable', { retryAfterSeconds: 2, cause: error })
}

/**
 * Offers all endpoints, or only the health endpoints in a process that runs tasks but serves no
 * API.
 */
export function createGatewayListener(
  services: PlainServices,
  { role, publicUrl, compressesResponses, corsOrigins, logsRequests }: Config,
  telemetry: Telemetry | undefined,
  signIn: Pick<SignInParts, 'demo'>,
) {
  const documented = services
    .endpoints()
    .filter(({ kind, documentation }) => role !== 'worker' || isOfWorkers(kind, documentation))
  // Console pages and vendor callbacks are not part of the reference.
  const pages = createConsoleEndpoints({ publicUrl, demoFor: (one) => demoFor(signIn, one) })
  const undocumented = [...pages, receiveVendorCallback]
  const offered: readonly Endpoint[] =
    role === 'worker' ? documented : [...documented, ...undocumented]
  // What the console calls carries cookies.
  const publicApi = new Set(
    documented.filter(({ documentation }) => documentation.credential === undefined),
  )
  const policy = { compresses: compressesResponses, origins: corsOrigins }
  const match = createRoutes<Endpoint>(
    offered.flatMap((endpoint) =>
      endpoint.paths.map((path) => ({ method: endpoint.method, path, target: endpoint })),
    ),
    UNSUPPORTED_PATHS,
  )
  return createListener<Endpoint>({
    match,
    memory: services.memory,
    envelopeOf: (endpoint, path) =>
      isNativePath(path) ? 'native' : (endpoint?.envelope ?? envelopeOfMiss(path)),
    startTrace: (header) => startTrace(header, telemetry?.isSampled),
    policyOf: (endpoint, path) =>
      (endpoint ? publicApi.has(endpoint) : !isConsole(path)) ? policy : undefined,
    run: (endpoint, context) => runEndpoint(endpoint, context, services),
    explain: convertUnavailable,
    onDone(context, error) {
      recordRequest(context, error, services, logsRequests && !isConsole(context.path))
      if (!PROBES.has(context.route)) telemetry?.note(context)
    },
  })
}

/** Throws GatewayError for every refusal. */
function runEndpoint(endpoint: Endpoint, context: Context, services: PlainServices): Promise<void> {
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
