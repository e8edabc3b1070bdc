// An independent decoder for tests of audio: the ffmpeg of the machine, where there is one.
import { spawn, spawnSync } from 'node:child_process'

/** Why tests with a decoder are skipped; false when there is one. */
export const WITHOUT_FFMPEG: string | false =
  spawnSync('ffmpeg', ['-version']).status === 0 ? false : 'ffmpeg is not installed'

/** Runs bytes through ffmpeg; rejects with what it complained about. */
function convert(input: Buffer, outputOptions: string[]): Promise<Buffer> {
  const options = ['-v', 'error', '-xerror', '-i', 'pipe:0', ...outputOptions, 'pipe:1']
  const child = spawn('ffmpeg', options)
  const made: Buffer[] = []
  const complaints: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => made.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      const text = Buffer.concat(complaints).toString()
      if (code === 0 && text === '') resolve(Buffer.concat(made))
      else reject(new Error(text || `ffmpeg ended with ${code}`))
    })
  })
}

/** 16-bit mono samples of any audio file. */
export function decode(input: Buffer, sampleRate: number): Promise<Buffer> {
  return convert(input, ['-f', 's16le', '-ac', '1', '-ar', String(sampleRate)])
}
