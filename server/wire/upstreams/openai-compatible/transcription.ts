/**
 * POST /audio/transcriptions and /audio/translations: the caller's form is written anew around the
 * file, which passes.
 */
import { Readable } from 'node:stream'
import { mainLanguage } from '../../../base/lib/text/fold-language.ts'
import type { Relay } from '../../dialects/relay.ts'
import { nameRecording, RECORDING_HEAD_BYTES } from '../../dialects/transcription/measure-audio.ts'
import {
  createPlainEvents,
  createTranscriptBody,
  createTranscriptStream,
} from '../../dialects/transcription/other-form.ts'
import { createPlainTap } from '../../dialects/transcription/read-usage.ts'
import { PLAIN_TYPES } from '../../dialects/transcription/write-transcript.ts'
import { isCalledEvents, isCalledText, isDocument } from '../read-json.ts'
import type { CallRequest, RequestFile, UpstreamAnswer } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { answerCall, type Call } from './forward.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildUrl, identityHeaders } from './request.ts'

const PIECE_BYTES = 64 * 1024

export function transcription(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return send(wire, call, '/audio/transcriptions')
}

/** Translates a recording to English. */
export function translation(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  return send(wire, call, '/audio/translations')
}

async function send(wire: Wire, call: Call, path: string): Promise<UpstreamAnswer> {
  const { settings, upstreamModel, request } = call
  const { file, value } = request
  if (!file) throw new Error('a transcription without its file')
  const boundary = `form-${request.requestId}`
  const fields = { ...value, ...readLanguage(value), model: upstreamModel }
  const form = await openForm(boundary, fields, file)
  const response = await wire.send({
    method: 'POST',
    url: buildUrl(settings, path),
    headers: {
      ...identityHeaders(settings),
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(form.bytes),
      accept: '*/*',
    },
    body: form.content,
  })
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  // A model that cannot stream answers with a document in any case.
  const stream = request.stream && !isDocument(response)
  const plain = PLAIN_TYPES[String(value.response_format)]
  // Subtitles cannot be made from events, which stay what they are.
  const type = plain && isCalledEvents(response) ? EVENTS : plain
  const relay = stream ? createTranscriptStream() : createWhole(type, response)
  return {
    ...answerCall(call, response, relay, stream),
    headers: { 'content-type': stream ? EVENTS : (type ?? 'application/json') },
  }
}

const EVENTS = 'text/event-stream'

/** `type` is that of the answer to the caller, absent for a document. */
function createWhole(type: string | undefined, response: WireResponse): Relay {
  if (type === undefined) return createTranscriptBody()
  return type === EVENTS ? createPlainEvents() : createPlainTap(!isCalledText(response))
}

/** This protocol knows languages without regions. */
function readLanguage({ language }: CallRequest['value']) {
  return typeof language === 'string' ? { language: mainLanguage(language) } : {}
}

interface Form {
  readonly bytes: number
  readonly content: Readable
}

async function openForm(
  boundary: string,
  value: Readonly<Record<string, unknown>>,
  file: RequestFile,
): Promise<Form> {
  const start = Buffer.alloc(Math.min(RECORDING_HEAD_BYTES, file.bytes))
  await file.read(start, 0)
  const fields = Object.entries(value).flatMap(([name, text]) => {
    if (typeof text !== 'string') return []
    // A list arrives as one text, separated by commas.
    const texts = name.endsWith('[]') ? text.split(',') : [text]
    return texts.map((one) => part(boundary, name, '') + one)
  })
  const opening = part(boundary, 'file', `; filename="${nameRecording(start) ?? 'audio.mp3'}"`)
  const head = Buffer.from([...fields, opening].join('\r\n'))
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const content = Readable.from(pieces(head, file, tail), { objectMode: false })
  return { bytes: head.length + file.bytes + tail.length, content }
}

function part(boundary: string, name: string, more: string): string {
  const type = more === '' ? '' : '\r\ncontent-type: application/octet-stream'
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}${type}\r\n\r\n`
}

async function* pieces(head: Buffer, file: RequestFile, tail: Buffer): AsyncGenerator<Buffer> {
  yield head
  for (let position = 0; position < file.bytes; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    const count = await file.read(piece, position)
    if (count === 0) throw new Error('the file ended early')
    position += count
    yield piece.subarray(0, count)
  }
  yield tail
}
