/** A cloud's framing of a stream: each event becomes a frame with checksums. */
import { chunkFrame } from '../../../simulators/bedrock/frames.ts'
import { EVENT_HEADERS, type Piece, type Script } from './script.ts'

/** Returns other scripts as they are. */
export function inFrames(script: Script): Script {
  if (script.headers !== EVENT_HEADERS) return script
  const headers = { 'content-type': 'application/vnd.amazon.eventstream' }
  return { ...script, headers, pieces: framed(script.pieces) }
}

function* framed(pieces: Script['pieces']): Generator<Piece> {
  for (const piece of pieces) {
    const data = Buffer.isBuffer(piece) ? /^data: (.*)$/m.exec(piece.toString())?.[1] : undefined
    yield data === undefined ? piece : chunkFrame(data, 'padding')
  }
}
