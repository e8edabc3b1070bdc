/**
 * Handles requests from start to end: routes, runs, renders errors and logs. No input from a caller
 * may escape as an exception.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayError } from '../lib/errors.ts'
import { type Context, createContext, type RequestRoute, type ResponsePolicy } from './context.ts'
import { preflightHeaders, preflightMethod } from './cors.ts'
import type { Envelope } from './envelope.ts'
import { sendEmpty, sendError } from './reply.ts'
import type { Match, Miss } from './router.ts'
import type { TraceContext } from './trace-context.ts'

export interface ListenerOptions<Target> {
  readonly match: (method: string, url: string) => Match<Target> | Miss<Target>
  /** `target` is undefined for a path without a route. */
  readonly envelopeOf: (target: Target | undefined, path: string) => Envelope
  /** Begins the trace of a request from its `traceparent` header. */
  readonly startTrace?: (header: unknown) => TraceContext | undefined
  /** By default responses are plain. */
  readonly policyOf?: (target: Target) => ResponsePolicy | undefined
  readonly run: (target: Target, context: Context) => Promise<void>
  /** Called once per request, when its response is finished or its caller has disconnected. */
  readonly onDone: (context: Context, error: GatewayError | undefined) => void
}

const UNROUTED = { pattern: '(none)', query: new URLSearchParams(), params: {} }

export function createListener<Target>(options: ListenerOptions<Target>) {
  return function listen(request: IncomingMessage, response: ServerResponse): void {
    // A caller that resets its connection must not cause an uncaught error.
    response.on('error', ignore)
    request.on('error', ignore)
    const found = route(request, options)
    const context = createContext(
      request,
      response,
      found,
      options.startTrace?.(request.headers.traceparent),
    )
    let failure: GatewayError | undefined
    response.once('close', () => options.onDone(context, failure))
    if ('preflight' in found) {
      sendEmpty(context, found.preflight)
      discard(request)
      return
    }
    if ('refused' in found) {
      failure = sendError(context, found.refused)
      discard(request)
      return
    }
    options
      .run(found.target, context)
      .catch((error: unknown) => {
        failure = sendError(context, error)
      })
      .finally(() => discard(request))
  }
}

type Routed<Target> = RequestRoute &
  (
    | { readonly target: Target }
    | { readonly refused: GatewayError }
    /** The headers of the response to a preflight. */
    | { readonly preflight: Readonly<Record<string, string>> }
  )

function route<Target>(request: IncomingMessage, options: ListenerOptions<Target>): Routed<Target> {
  const url = request.url ?? '/'
  const found = options.match(request.method ?? 'GET', url)
  if (!('refused' in found)) return describe(found, options)
  const preflight = routePreflight(request, url, options)
  if (preflight) return preflight
  const { refused, intended } = found
  const envelope = options.envelopeOf(intended, url)
  return { ...UNROUTED, path: url, envelope, refused }
}

function describe<Target>(found: Match<Target>, options: ListenerOptions<Target>) {
  const policy = options.policyOf?.(found.target)
  const envelope = options.envelopeOf(found.target, found.path)
  return { ...found, envelope, ...(policy ? { policy } : {}) }
}

/** Routes a preflight to the endpoint that the page wants to call. */
function routePreflight<Target>(
  request: IncomingMessage,
  url: string,
  options: ListenerOptions<Target>,
) {
  const method = preflightMethod(request)
  const found = method === undefined ? undefined : options.match(method, url)
  if (!found || 'refused' in found) return undefined
  const { target: _, ...route } = describe(found, options)
  const preflight = preflightHeaders(route.policy?.origins, request)
  return preflight && { ...route, preflight }
}

/** Reads and discards an unread body, so that the connection can be reused. */
function discard(request: IncomingMessage): void {
  if (!request.complete && !request.destroyed) request.resume()
}

function ignore(): void {}
