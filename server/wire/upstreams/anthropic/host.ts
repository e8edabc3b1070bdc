/**
 * Hosts of the messages format: the vendor's own API, and clouds that serve its models. They
 * differ in where a request goes, how it is signed and what its errors are; the format is one.
 */
import type { Relay, RelayReport } from '../../dialects/relay.ts'
import type { UpstreamFailure } from '../failure.ts'
import type { CallRequest } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import type { MessagesSettings } from './settings.ts'

export interface HostRequest<Settings> {
  readonly settings: Settings
  readonly upstreamModel: string
  /** Of its headers, those of the caller's client and the betas may be forwarded. */
  readonly request: CallRequest
  /** A body of the format, with `model` and `stream`. */
  readonly body: Buffer
}

export interface HostAnswer {
  /** Below 400: refusals are thrown. */
  readonly response: WireResponse
  /** Names the parts of the request that were not sent. */
  readonly ignored: readonly string[]
}

export interface MessagesHost<Settings extends MessagesSettings> {
  readonly send: (wire: Wire, request: HostRequest<Settings>) => Promise<HostAnswer>
  /** Wraps the relay where a stream is framed in another way than by server-sent events. */
  readonly unframe?: (relay: Relay) => Relay
  /** Returns the failure for an error in place of the first event, under status 200. */
  readonly refusal: (report: RelayReport) => UpstreamFailure | undefined
}

/** Returns what every answer of a host has in common. */
export function describeHostAnswer<Settings extends MessagesSettings>(
  { unframe, refusal }: MessagesHost<Settings>,
  { settings, request: { stream } }: HostRequest<Settings>,
  { response }: HostAnswer,
  relay: Relay,
) {
  return {
    status: 200,
    body: response.body,
    ...(unframe ? { relay: unframe(relay), isFramed: true } : { relay }),
    stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal,
  }
}

export function messagesAnswerHeaders(stream: boolean): Record<string, string> {
  if (!stream) return { 'content-type': 'application/json' }
  return { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
}
