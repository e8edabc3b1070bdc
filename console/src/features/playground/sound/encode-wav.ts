/** Encodes samples as the wav file that interpretation accepts: 16 kHz, mono, 16-bit PCM. */

export const SAMPLES_PER_SECOND = 16_000
const SAMPLE_BYTES = 2
const HEAD_BYTES = 44
const SAMPLE_MAX = 0x7fff

/** `samples` range from -1 to 1; others are clipped. */
export function encodeWav(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = samples.length * SAMPLE_BYTES
  const buffer = new ArrayBuffer(HEAD_BYTES + bytes)
  const view = new DataView(buffer)
  const write = (at: number, text: string) => {
    for (let index = 0; index < text.length; index++) {
      view.setUint8(at + index, text.charCodeAt(index))
    }
  }
  write(0, 'RIFF')
  view.setUint32(4, HEAD_BYTES - 8 + bytes, true)
  write(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, SAMPLES_PER_SECOND, true)
  view.setUint32(28, SAMPLES_PER_SECOND * SAMPLE_BYTES, true)
  view.setUint16(32, SAMPLE_BYTES, true)
  view.setUint16(34, 8 * SAMPLE_BYTES, true)
  write(36, 'data')
  view.setUint32(40, bytes, true)
  samples.forEach((sample, index) => {
    const cut = Math.max(-1, Math.min(1, sample))
    view.setInt16(HEAD_BYTES + index * SAMPLE_BYTES, Math.round(cut * SAMPLE_MAX), true)
  })
  return new Uint8Array(buffer)
}
