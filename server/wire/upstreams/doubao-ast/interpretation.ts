/**
 * Interprets a recording over AST 2.0: opens a session, sends the samples at the pace of speech and
 * returns the output as one JSON text, or as Ogg audio while it is spoken.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { readInterpretationOrder } from '../../dialects/interpretation/read-order.ts'
import { BYTES_PER_SECOND } from '../../dialects/interpretation/read-wav.ts'
import { UpstreamFailure } from '../failure.ts'
import type { UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire, WireSocket } from '../wire.ts'
import { encodeFinish, encodeStart } from './encode-request.ts'
import { readUpgradeRefusal } from './failures.ts'
import { createFeed, type Feed } from './feed.ts'
import { type AstSession, createSession } from './session.ts'
import { type AstSettings, socketHeaders, socketUrl } from './settings.ts'

/** Bytes of audio buffered for a slow caller. */
const BUFFER_BYTES = 16 * 1024
/** Maximum wait for usage after the session's end, as after the end of other streams. */
const LATE_USAGE_MS = 250

export async function interpretation(
  wire: Wire,
  { settings: channel, upstreamModel, request }: UpstreamCall<AstSettings>,
): Promise<UpstreamAnswer> {
  const { file } = request
  if (!file) throw new UpstreamFailure('rejected', { message: 'file is required', param: 'file' })
  const { mode, languages, voice: speakerId } = readInterpretationOrder(request.value)
  const sessionId = randomUUID()
  const feed = createFeed(file, sessionId)
  const sentMs = () => (feed.sentBytes() * 1000) / BYTES_PER_SECOND
  const answer = createAnswerBody(wire, createSession({ mode, sentMs }), mode)
  const opening = await wire.openSocket({
    url: socketUrl(channel),
    headers: socketHeaders(channel, upstreamModel, randomUUID()),
    onMessage: answer.take,
    onClose: answer.closed,
  })
  if (!opening.socket) throw await readUpgradeRefusal(opening.refusal)
  const { socket } = opening
  answer.attach(socket)
  const { source: sourceLanguage, target: targetLanguage } = languages
  try {
    await socket.send(encodeStart({ sessionId, mode, sourceLanguage, targetLanguage, speakerId }))
    await answer.started
  } catch (cause) {
    socket.close()
    throw notStarted(cause)
  }
  void pump(socket, feed, channel, sessionId).catch(answer.closed)
  return {
    status: 200,
    headers: { 'content-type': mode === 's2s' ? 'audio/ogg' : 'application/json' },
    body: answer.body,
    relay: {
      push: (chunk) => chunk,
      end: () => undefined,
      fail: () => undefined,
      report: answer.report,
    },
    stream: mode === 's2s',
    stopsOnCancel: channel.stops_on_cancel,
    cutsWhenBroken: true,
    leave: feed.stop,
  }
}

/** Before the session has started no audio was sent, so another route may be tried. */
function notStarted(cause: unknown): UpstreamFailure {
  if (cause instanceof UpstreamFailure && cause.kind !== 'unknown') return cause
  const message = cause instanceof Error ? cause.message : 'the session did not start'
  return new UpstreamFailure('failed', { cause, message })
}

/** Sends all audio and then the end, which the vendor answers with the rest and its own end. */
async function pump(socket: WireSocket, feed: Feed, channel: AstSettings, sessionId: string) {
  await socket.sendPaced(channel.pace_ms, feed.next)
  await socket.send(encodeFinish(sessionId))
}

interface AnswerBody {
  readonly body: Readable
  /** Resolves once the vendor accepts audio; rejects with an UpstreamFailure. */
  readonly started: Promise<void>
  readonly attach: (socket: WireSocket) => void
  readonly take: (message: Buffer) => void
  readonly closed: (failure: unknown) => void
  readonly report: AstSession['report']
}

/**
 * Builds the caller's stream, which pauses the socket while it is full and closes it at the end:
 * that of the session, or of a short wait for usage that the vendor has not stated by then.
 */
function createAnswerBody(
  wire: Pick<Wire, 'wait'>,
  session: AstSession,
  mode: 's2t' | 's2s',
): AnswerBody {
  let socket: WireSocket | undefined
  let isEnded = false
  const start = Promise.withResolvers<void>()
  start.promise.catch(() => undefined)
  const body = new Readable({
    highWaterMark: BUFFER_BYTES,
    read: () => socket?.resume(),
    destroy(error, done) {
      socket?.close()
      done(error)
    },
  })
  // A reader gets the error by itself; there may be no reader yet.
  body.on('error', () => undefined)
  const breakOff = (failure: UpstreamFailure) => {
    start.reject(failure)
    body.destroy(failure)
  }
  const finish = () => {
    if (isEnded) return
    isEnded = true
    if (mode === 's2t') body.push(JSON.stringify(session.texts()))
    body.push(null)
    socket?.close()
  }
  const endSoon = () => {
    // Does nothing to a session that has started.
    start.reject(new UpstreamFailure('failed', { message: 'the session ended before its start' }))
    void wire.wait(LATE_USAGE_MS).then(finish, finish)
  }
  return {
    body,
    started: start.promise,
    attach(opened) {
      socket = opened
    },
    take(message) {
      if (body.destroyed || isEnded) return
      const step = session.take(message)
      if (step.kind === 'started') start.resolve()
      else if (step.kind === 'failed') breakOff(step.failure)
      else if (step.kind === 'finished') endSoon()
      else if (step.kind === 'audio' && !body.push(step.bytes)) socket?.pause()
      if (session.isBilled()) finish()
    },
    closed(failure) {
      if (session.report().finished) {
        finish()
        return
      }
      const cause =
        failure ?? new Error('the vendor closed the connection without ending the session')
      breakOff(cause instanceof UpstreamFailure ? cause : brokenOff(cause))
    },
    report: session.report,
  }
}

function brokenOff(cause: unknown): UpstreamFailure {
  const message = cause instanceof Error ? cause.message : 'the session broke off'
  return new UpstreamFailure('unknown', { cause, message })
}
