/** Transport faults of any dialect: answers that end early, stall or are garbled. */
import { gzipSync } from 'node:zlib'
import { drip, endlessLine, flood, type Piece, type Script } from './script.ts'

/** The amount of usage sent before a cut. */
export type Cut = 'before content' | 'before usage' | 'after usage'

export const CUTS: Readonly<Record<string, { readonly at: Cut; readonly how: 'reset' | 'end' }>> = {
  'ends before content': { at: 'before content', how: 'end' },
  'reset before content': { at: 'before content', how: 'reset' },
  'ends before usage': { at: 'before usage', how: 'end' },
  'reset before usage': { at: 'before usage', how: 'reset' },
  'reset after usage': { at: 'after usage', how: 'reset' },
}

const DRIP_MS = 150
const DRIP_MS_MAX = 20_000

/** Replaces the whole answer. Returns undefined for an unknown fault. */
export function replaceAnswer(breakage: string, script: Script): Script | undefined {
  const whole = (text: string, type = 'application/json'): Script => ({
    status: 200,
    headers: { 'content-type': type },
    pieces: [Buffer.from(text)],
  })
  switch (breakage) {
    case 'HTML':
      return whole('<html><body>Bad gateway</body></html>', 'text/html')
    case 'not JSON':
      return whole('{"id": "x", "choices": [')
    case 'a JSON string':
      return whole('"done"')
    case 'a JSON array':
      return whole('[{"usage":{"prompt_tokens":1,"completion_tokens":1}}]')
    case 'nothing':
      return whole('')
    case 'an error under 200':
      return whole('{"error":{"message":"the model fell over","type":"server_error"}}')
    case 'compressed':
      return compressed(script)
    case 'an endless line':
      return { ...script, pieces: endlessLine(firstOf(script)) }
    case 'a drip':
      return { ...script, pieces: drip(firstOf(script), DRIP_MS, DRIP_MS_MAX) }
    case 'a flood':
      return { ...script, pieces: flood() }
    case 'silence':
      return { ...script, pieces: [firstOf(script), { waitMs: DRIP_MS_MAX }, 'reset'] }
    default:
      return undefined
  }
}

function firstOf({ pieces }: Script): Buffer {
  for (const piece of pieces) if (Buffer.isBuffer(piece)) return piece
  return Buffer.from(' ')
}

function compressed(script: Script): Script {
  const bytes = [...script.pieces].filter((piece): piece is Buffer => Buffer.isBuffer(piece))
  const headers = { ...script.headers, 'content-encoding': 'gzip' }
  return { ...script, headers, pieces: [gzipSync(Buffer.concat(bytes))] }
}

/** Cuts a script at its marks: the pieces up to content, up to usage, or all but the ending. */
export function cutScript(
  script: Script,
  marks: { readonly content: number; readonly usage: number; readonly ending: number },
  { at, how }: { readonly at: Cut; readonly how: 'reset' | 'end' },
): Script {
  const ends = { 'before content': marks.content, 'before usage': marks.usage }
  const end = at === 'after usage' ? marks.ending : ends[at]
  const pieces: Piece[] = [...script.pieces].slice(0, end)
  // Lets the written bytes arrive before the reset.
  if (how === 'reset') pieces.push({ waitMs: 15 }, 'reset')
  return { ...script, pieces }
}
