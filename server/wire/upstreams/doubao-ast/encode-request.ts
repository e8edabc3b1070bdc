/**
 * Encodes the client's messages of AST 2.0, one bare protobuf to a WebSocket message
 * (docs/protocols/volcengine-interpretation.md#messages). The schema is small and fixed, so its
 * field numbers are written out here.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { EVENTS } from './events.ts'

/** The only input format: 16 kHz, 16 bits, one channel, without a header. */
const SOURCE = { format: 'wav', codec: 'raw', rate: 16_000, bits: 16, channel: 1 } as const
/** Ogg Opus is always at 48 kHz. */
const TARGET = { format: 'ogg_opus', rate: 48_000 } as const

export interface SessionStart {
  readonly sessionId: string
  readonly mode: 's2t' | 's2s'
  readonly sourceLanguage: string
  readonly targetLanguage: string
  /** Empty to clone the source's voice. */
  readonly speakerId: string
}

/** StartSession: request_meta 1, event 2, source_audio 4, target_audio 5, request 6. */
export function encodeStart(start: SessionStart): Uint8Array {
  const writer = begin(start.sessionId, EVENTS.startSession)
  openMessage(writer, 4)
  text(writer, 4, SOURCE.format)
  text(writer, 5, SOURCE.codec)
  whole(writer, 7, SOURCE.rate)
  whole(writer, 8, SOURCE.bits)
  whole(writer, 9, SOURCE.channel)
  writer.join()
  if (start.mode === 's2s') writeTarget(writer)
  openMessage(writer, 6)
  text(writer, 1, start.mode)
  text(writer, 2, start.sourceLanguage)
  text(writer, 3, start.targetLanguage)
  if (start.mode === 's2s') text(writer, 4, start.speakerId)
  return writer.join().finish()
}

function writeTarget(writer: BinaryWriter): void {
  openMessage(writer, 5)
  text(writer, 4, TARGET.format)
  whole(writer, 7, TARGET.rate)
  writer.join()
}

/** TaskRequest: source_audio 4 with its binary_data 14. */
export function encodeAudio(sessionId: string, samples: Uint8Array): Uint8Array {
  const writer = begin(sessionId, EVENTS.taskRequest)
  openMessage(writer, 4)
  return writer.tag(14, WireType.LengthDelimited).bytes(samples).join().finish()
}

export function encodeFinish(sessionId: string): Uint8Array {
  return begin(sessionId, EVENTS.finishSession).finish()
}

/** request_meta 1 with its SessionID 6, and event 2. */
function begin(sessionId: string, event: number): BinaryWriter {
  const writer = new BinaryWriter()
  openMessage(writer, 1)
  text(writer, 6, sessionId)
  writer.join()
  whole(writer, 2, event)
  return writer
}

/** Opens a nested message, which `join` closes. */
function openMessage(writer: BinaryWriter, field: number): void {
  writer.tag(field, WireType.LengthDelimited).fork()
}

/** Writes a string field; an empty string is left out, as in proto3. */
function text(writer: BinaryWriter, field: number, value: string): void {
  if (value !== '') writer.tag(field, WireType.LengthDelimited).string(value)
}

function whole(writer: BinaryWriter, field: number, value: number): void {
  writer.tag(field, WireType.Varint).int32(value)
}
