/**
 * Handles requests from start to end: routes, runs, renders errors and logs. No input from a caller
 * may escape as an exception.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayError } from '../lib/errors.ts'
import type { Memory } from '../lib/memory/memory.ts'
import { noteWork } from '../lib/process/loop-watch.ts'
import {
  type Context,
  createContext,
  endContext,
  type RequestRoute,
  type ResponsePolicy,
} from './context.ts'
import { preflightHeaders, preflightMethod } from './cors.ts'
import type { Envelope } from './envelope.ts'
import { sendEmpty, sendError } from './reply.ts'
import type { Match, Miss } from './router.ts'
import type { TraceContext } from './trace-context.ts'

/** Guards, limits, pipeline and streams each watch the end of a response: about a dozen. */
const LISTENERS_MAX = 20

export interface ListenerOptions<Target> {
  readonly match: (method: string, url: string) => Match<Target> | Miss<Target>
  readonly memory: Memory
  /** `target` is undefined for a path without a route. */
  readonly envelopeOf: (target: Target | undefined, path: string) => Envelope
  /** Begins the trace of a request from its `traceparent` header. */
  readonly startTrace?: (header: unknown) => TraceContext | undefined
  /** By default responses are plain. `target` is undefined for a path without a route. */
  readonly policyOf?: (target: Target | undefined, path: string) => ResponsePolicy | undefined
  readonly run: (target: Target, context: Context) => Promise<void>
  /** Returns the error to send for what `run` threw; by default it is sent as it is. */
  readonly explain?: (thrown: unknown) => unknown
  /**
   * Called once per request, when its response is finished or its caller has disconnected, and
   * nothing of it runs any more: a call may be settled long after its caller has left.
   */
  readonly onDone: (context: Context, error: GatewayError | undefined) => void
}

const UNROUTED = { pattern: '(none)', query: new URLSearchParams(), params: {} }

export function createListener<Target>(options: ListenerOptions<Target>) {
  return function listen(request: IncomingMessage, response: ServerResponse): void {
    // A caller that resets its connection must not cause an uncaught error.
    response.on('error', ignore)
    response.setMaxListeners(LISTENERS_MAX)
    request.on('error', ignore)
    const found = route(request, options)
    const context = createContext(
      request,
      response,
      found,
      options.memory,
      options.startTrace?.(request.headers.traceparent),
    )
    noteWork(context)
    let failure: GatewayError | undefined
    let isRunning = false
    const finish = () => {
      if (!isRunning && context.end) options.onDone(context, failure)
    }
    response.on('close', () => {
      endContext(context)
      finish()
    })
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
    isRunning = true
    const end = () => {
      isRunning = false
      if (context.portions) for (const portion of context.portions) portion.end()
      discard(request)
      finish()
    }
    options.run(found.target, context).then(end, (thrown: unknown) => {
      try {
        failure = sendError(context, options.explain ? options.explain(thrown) : thrown)
      } finally {
        end()
      }
    })
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
  if (!('refused' in found)) return { ...found, ...present(found.target, found.path, options) }
  const preflight = routePreflight(request, url, options)
  if (preflight) return preflight
  const { refused, intended } = found
  return { ...UNROUTED, path: url, ...present(intended, url, options), refused }
}

/**
 * Routes a preflight to the endpoint that the page wants to call, or to the refusal of an unknown
 * path, which a page can only read after a preflight.
 */
function routePreflight<Target>(
  request: IncomingMessage,
  url: string,
  options: ListenerOptions<Target>,
) {
  const method = preflightMethod(request)
  const found = method === undefined ? undefined : options.match(method, url)
  if (!found || ('refused' in found && found.refused.row !== 'not_found')) return undefined
  const shown =
    'refused' in found
      ? { ...UNROUTED, path: url, ...present(found.intended, url, options) }
      : { ...found, ...present(found.target, found.path, options) }
  const preflight = preflightHeaders(shown.policy?.origins, request)
  return preflight && { ...shown, preflight }
}

/** Returns the form of the responses of an endpoint, or of a path without one. */
function present<Target>(
  target: Target | undefined,
  path: string,
  { envelopeOf, policyOf }: ListenerOptions<Target>,
) {
  const policy = policyOf?.(target, path)
  return { envelope: envelopeOf(target, path), policy }
}

/** Reads and discards an unread body, so that the connection can be reused. */
function discard(request: IncomingMessage): void {
  if (!request.complete && !request.destroyed) request.resume()
}

function ignore(): void {}
