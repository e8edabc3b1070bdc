/** Reads any audio that the browser can decode, converted on request. */
import type { OrderFile } from '../frame/order.ts'
import { encodeWav, SAMPLES_PER_SECOND } from './encode-wav.ts'

const HEAD_BYTES = 4096
const TAIL_BYTES = 65_536

/** Converts to 16 kHz, mono, 16-bit PCM. Throws DOMException if the browser cannot decode it. */
export async function toWav(content: Blob, name: string): Promise<OrderFile> {
  const samples = await resample(await decode(content))
  const wav = new Blob([encodeWav(samples)], { type: 'audio/wav' })
  const stem = name.replace(/\.\w+$/, '') || 'recording'
  return describe(wav, `${stem}.wav`, samples.length / SAMPLES_PER_SECOND)
}

/** Reads it unchanged. Throws DOMException if the browser cannot decode it. */
export async function asItIs(content: Blob, name: string): Promise<OrderFile> {
  return describe(content, name, (await decode(content)).duration)
}

async function describe(content: Blob, name: string, seconds: number): Promise<OrderFile> {
  const tailAt = Math.max(HEAD_BYTES, content.size - TAIL_BYTES)
  const [head, tail] = [content.slice(0, HEAD_BYTES), content.slice(tailAt)]
  return {
    content,
    name,
    seconds: Math.ceil(seconds),
    head: await toBase64(head),
    tail: await toBase64(tail),
  }
}

async function toBase64(part: Blob): Promise<string> {
  const bytes = new Uint8Array(await part.arrayBuffer())
  return btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ''))
}

async function decode(content: Blob): Promise<AudioBuffer> {
  const context = new OfflineAudioContext(1, 1, SAMPLES_PER_SECOND)
  return context.decodeAudioData(await content.arrayBuffer())
}

/** Mixes down to one channel; decoding has already resampled to the context's rate. */
async function resample(sound: AudioBuffer): Promise<Float32Array> {
  const length = Math.max(1, Math.ceil(sound.duration * SAMPLES_PER_SECOND))
  const context = new OfflineAudioContext(1, length, SAMPLES_PER_SECOND)
  const source = context.createBufferSource()
  source.buffer = sound
  source.connect(context.destination)
  source.start()
  return (await context.startRendering()).getChannelData(0)
}
