/** Recordings in every container that is measured, and what a decoder makes of each. */
import { readFileSync } from 'node:fs'
import { inflateSync } from 'node:zlib'
import { openWindow } from '../../../../server/base/lib/media/open-window.ts'
import {
  measureSound,
  type SoundLength,
} from '../../../../server/base/lib/media/sound/measure-sound.ts'

export interface MadeRecording {
  readonly name: string
  /** Of a tone of 1.31 seconds: what ffmpeg decodes, cut to what an MP4 says is played. */
  readonly seconds: number
  readonly file: Buffer
  /** Samples per second and options that ffmpeg made it with. */
  readonly rate: number
  readonly options: readonly string[]
}

const path = new URL('../fixtures/recordings.json', import.meta.url)
const listed: readonly (Omit<MadeRecording, 'file'> & { readonly content: string })[] = JSON.parse(
  readFileSync(path, 'utf8'),
)

export const RECORDINGS: readonly MadeRecording[] = listed.map(({ content, ...recording }) => ({
  ...recording,
  file: inflateSync(Buffer.from(content, 'base64')),
}))

export function recording(name: string): Buffer {
  const found = RECORDINGS.find((one) => one.name === name)
  if (!found) throw new Error(`no recording ${name}`)
  return Buffer.from(found.file)
}

export interface MeasuredSound extends SoundLength {
  readonly bytesRead: number
}

/** Reads the file in pieces of at least so many bytes. */
export async function measure(file: Buffer, pieceBytes = 65_536): Promise<MeasuredSound> {
  let bytesRead = 0
  const read = async (start: number, end: number) => {
    const piece = file.subarray(start, end + 1)
    bytesRead += piece.length
    return piece
  }
  const limits = { pieceBytes, piecesMax: Infinity }
  const length = await measureSound(openWindow(file.length, read, limits))
  return { ...length, bytesRead }
}
