// A client of the interpretation service for its simulator's tests. It sends messages that were
// encoded by hand (docs/protocols/volcengine-interpretation.md#messages) and decodes answers with a
// library, so that the simulator's own encoder does not judge itself.
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { WebSocket } from 'ws'

export interface Received {
  event: number
  session: string
  code: number
  message: string
  text: string
  data: Buffer
  startMs: number
  endMs: number
  items: Record<string, number>
}

export interface StartOptions {
  mode?: string
  source?: string
  target?: string
  speaker?: string
  rate?: number
  format?: string
  targetFormat?: string
  targetRate?: number
}

const meta = (session: string) => (writer: BinaryWriter) => {
  writer.tag(6, WireType.LengthDelimited).string(session)
}

function nested(writer: BinaryWriter, field: number, fill: (inner: BinaryWriter) => void): void {
  writer.tag(field, WireType.LengthDelimited).fork()
  fill(writer)
  writer.join()
}

export function startMessage(session: string, options: StartOptions = {}): Uint8Array {
  const writer = new BinaryWriter()
  nested(writer, 1, meta(session))
  writer.tag(2, WireType.Varint).int32(100)
  nested(writer, 4, (audio) => {
    audio.tag(4, WireType.LengthDelimited).string(options.format ?? 'wav')
    audio.tag(5, WireType.LengthDelimited).string('raw')
    const shape = [options.rate ?? 16000, 16, 1]
    shape.forEach((value, index) => {
      audio.tag(7 + index, WireType.Varint).int32(value)
    })
  })
  if (options.mode === 's2s') {
    nested(writer, 5, (audio) => {
      audio.tag(4, WireType.LengthDelimited).string(options.targetFormat ?? 'ogg_opus')
      audio.tag(7, WireType.Varint).int32(options.targetRate ?? 48000)
    })
  }
  nested(writer, 6, (request) => {
    const { mode = 's2t', source = 'zh', target = 'en', speaker = '' } = options
    const texts = [mode, source, target, speaker]
    texts.forEach((value, index) => {
      request.tag(1 + index, WireType.LengthDelimited).string(value)
    })
  })
  return writer.finish()
}

export function eventMessage(session: string, event: number, audio?: Buffer): Uint8Array {
  const writer = new BinaryWriter()
  nested(writer, 1, meta(session))
  writer.tag(2, WireType.Varint).int32(event)
  if (audio) {
    nested(writer, 4, (inner) => inner.tag(14, WireType.LengthDelimited).bytes(audio))
  }
  return writer.finish()
}

export function readReceived(bytes: Uint8Array): Received {
  const received: Received = {
    event: 0,
    session: '',
    code: 0,
    message: '',
    text: '',
    startMs: 0,
    endMs: 0,
    data: Buffer.alloc(0),
    items: {},
  }
  each(bytes, {
    1: (reader) => readMeta(reader.bytes(), received),
    2: (reader) => {
      received.event = reader.int32()
    },
    3: (reader) => {
      received.data = Buffer.from(reader.bytes())
    },
    4: (reader) => {
      received.text = reader.string()
    },
    5: (reader) => {
      received.startMs = reader.int32()
    },
    6: (reader) => {
      received.endMs = reader.int32()
    },
  })
  return received
}

function readMeta(bytes: Uint8Array, received: Received): void {
  each(bytes, {
    1: (reader) => {
      received.session = reader.string()
    },
    3: (reader) => {
      received.code = reader.int32()
    },
    4: (reader) => {
      received.message = reader.string()
    },
    5: (reader) => each(reader.bytes(), { 1: (inner) => readItem(inner.bytes(), received) }),
  })
}

function readItem(bytes: Uint8Array, received: Received): void {
  let unit = ''
  each(bytes, {
    1: (reader) => {
      unit = reader.string()
    },
    2: (reader) => {
      received.items[unit] = reader.float()
    },
  })
}

function each(bytes: Uint8Array, known: Record<number, (reader: BinaryReader) => void>): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    const read = known[field]
    if (read) read(reader)
    else reader.skip(wireType)
  }
}

export interface Interpreting {
  socket: WebSocket
  received: Received[]
  /** Resolves when the connection is closed, with its code. */
  closed: Promise<number>
  until: (event: number) => Promise<Received>
}

const PATH = '/openspeech/api/v4/ast/v2/translate'
export const HEADERS = {
  'X-Api-Key': 'sim-speech-key',
  'X-Api-Resource-Id': 'volc.service_type.10053',
}

/** Opens a connection; rejects with the HTTP status where it is refused. */
export function connectTo(url: string, headers: Record<string, string> = HEADERS) {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + PATH, { headers })
  return new Promise<Interpreting>((resolve, reject) => {
    socket.on('unexpected-response', (_, answer) => {
      answer.resume()
      reject(new Error(`refused with ${answer.statusCode}`))
    })
    socket.on('error', reject)
    socket.on('open', () => resolve(follow(socket)))
  })
}

function follow(socket: WebSocket): Interpreting {
  const received: Received[] = []
  const waiting: (() => void)[] = []
  const wake = () => {
    for (const one of waiting.splice(0)) one()
  }
  socket.on('message', (data: Buffer) => {
    received.push(readReceived(data))
    wake()
  })
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (code) => {
      resolve(code)
      wake()
    })
  })
  const until = async (event: number): Promise<Received> => {
    for (;;) {
      const found = received.find((one) => one.event === event)
      if (found) return found
      if (socket.readyState === socket.CLOSED) throw new Error(`closed before event ${event}`)
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
  return { socket, received, closed, until }
}

/** A whole session: start, the samples in pieces of 80 ms, finish; resolves at its end. */
export async function interpret(
  url: string,
  pcm: Buffer,
  options: StartOptions = {},
): Promise<Received[]> {
  const client = await connectTo(url)
  client.socket.send(startMessage('s-1', options))
  await client.until(150)
  for (let at = 0; at < pcm.length; at += 2560) {
    client.socket.send(eventMessage('s-1', 200, pcm.subarray(at, at + 2560)))
  }
  client.socket.send(eventMessage('s-1', 102))
  await client.until(152)
  client.socket.close()
  return client.received
}
